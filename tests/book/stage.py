"""Copies `docs` to where mdBook reads it, with the pages of the reference, and with links where pages name each other in backticks."""

import re
import shutil
import sys
from pathlib import Path

from . import reference

# `limits.md`, `docs/limits.md`, `../limits.md`: how pages name each other.
NAMED = re.compile(r"(?<!\[)`((?:docs/|\.\./)?[\w/.-]*\w\.md)`(?!\])")
# A link out of docs has no page in the book: its words stay.
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


# mdBook makes index.html of a README.md, and leaves links to README.html as they are.
README = re.compile(r"(\]\((?:[^)#:\s]*/)?)README\.md(?=[)#])")


def main(docs, staged, pericore):
    docs, staged = Path(docs), Path(staged)
    shutil.copytree(docs, staged)
    (staged / "book" / "book.toml").rename(staged / "book.toml")
    listed = set(re.findall(r"\]\(([^)]+\.md)\)", (docs / "SUMMARY.md").read_text()))
    for page in staged.rglob("*.md"):
        path = page.relative_to(staged)
        if path.name != "SUMMARY.md":
            page.write_text(linked(page.read_text(), path, listed, lambda file: (docs / file).exists()))
    for page in list(staged.rglob("*.md")):
        page.write_text(README.sub(r"\1index.md", page.read_text()))
        if page.name == "README.md":
            page.rename(page.with_name("index.md"))
    chapters = reference.write(pericore, staged / "reference")
    summary = staged / "SUMMARY.md"
    summary.write_text(with_chapters(summary.read_text(), chapters))


def linked(text, path, listed, exists):
    """The page's text; `path` is the page's, from docs."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    # Code blocks are the odd ones, and stay as they are.
    parts[::2] = [outside_of_code(part, path, listed, exists) for part in parts[::2]]
    return "".join(parts)


def outside_of_code(text, path, listed, exists):
    def name(match):
        page = found(match[1], path, listed)
        if page is None or page == path.as_posix():
            return match[0]
        return f"[`{match[1]}`]({'../' * (len(path.parts) - 1)}{page})"

    def link(match):
        target = resolve((path.parent / match[2]).as_posix())
        return match[0] if target and exists(target) else match[1]

    return NAMED.sub(name, LINK.sub(link, text))


def found(name, path, listed):
    """The page that a name in backticks means: from docs, from the page's folder, or the only one that ends so."""
    near = resolve((path.parent / name).as_posix())
    for page in (name.removeprefix("docs/"), near):
        if page in listed:
            return page
    ends = [page for page in listed if page.endswith("/" + name)]
    return ends[0] if len(ends) == 1 and "/" not in name else None


def resolve(path):
    """A path without `..`; none if it leads out of docs."""
    parts = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def with_chapters(summary, chapters):
    """The summary, with the reference's chapters below the line of its first page."""
    lines = summary.splitlines()
    [at] = [number for number, line in enumerate(lines) if "(book/reference.md)" in line]
    indent = " " * (len(lines[at]) - len(lines[at].lstrip()) + 2)
    lines[at + 1 : at + 1] = [indent + chapter for chapter in chapters]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
