"""Follows the links of the pages that mdBook made: each leads to a file, and to a heading of it."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.names.add(value)
            elif value and name == {"a": "href", "link": "href", "img": "src", "script": "src"}.get(tag):
                self.targets.append(value)


def broken(book):
    """Links that lead nowhere: page and link."""
    book = Path(book).resolve()
    pages = {path: Page(path.read_text()) for path in sorted(book.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        # What is shown of an address that is not there is laid out for the book's top folder.
        folder = book if path.name == "404.html" else path.parent
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (folder / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            names = pages[to].names if to in pages else {parts.fragment}
            if not to.exists() or parts.fragment and unquote(parts.fragment) not in names:
                found.append(f"{path.relative_to(book)}: {target}")
    return found, len(pages), sum(len(page.targets) for page in pages.values())


if __name__ == "__main__":
    problems, pages, links = broken(sys.argv[1])
    for problem in problems:
        print(f"leads nowhere: {problem}", file=sys.stderr)
    print(f"{pages} pages, {links} links, {len(problems)} of them lead nowhere")
    sys.exit(bool(problems) or pages < 100)
