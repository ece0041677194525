"""The copy of the project that is mutated, and what git says of the project itself."""

import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "mutants"
TREE = WORK / "tree"
LOGS = ROOT / "tests/logs"


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout


def revision():
    return git("describe", "--always", "--dirty").strip()


def copy_tree(changed=None):
    """Brings the copy up to date, with the texts of changed files. It stays in one place, and what is as before keeps its times, so that cargo builds little."""
    changed = changed or {}
    paths = set(git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")) - {""}
    paths = {path for path in paths if (ROOT / path).is_symlink() or (ROOT / path).is_file()}
    for old in list(TREE.rglob("*")) if TREE.exists() else []:
        path = str(old.relative_to(TREE))
        kept = path in paths and old.is_symlink() == (ROOT / path).is_symlink()
        if (old.is_file() or old.is_symlink()) and not kept and path.split("/")[0] not in ("target", "Cargo.lock"):
            old.unlink()
    for path in paths:
        if (ROOT / path).is_symlink():
            copy_link(path)
        else:
            copy_file(path, changed.get(path))


def copy_file(path, changed):
    text, old = changed or (ROOT / path).read_bytes(), TREE / path
    if not old.exists() or old.read_bytes() != text:
        old.parent.mkdir(parents=True, exist_ok=True)
        old.write_bytes(text)
        shutil.copymode(ROOT / path, old)


def copy_link(path):
    """The catalogue is a link to a folder in the crate that compiles it; what it leads to is in the copy, too."""
    to, old = os.readlink(ROOT / path), TREE / path
    if not old.is_symlink() or os.readlink(old) != to:
        old.unlink(missing_ok=True)
        old.parent.mkdir(parents=True, exist_ok=True)
        old.symlink_to(to)


def difference(base):
    """What has changed in Rust since a revision, new files among it."""
    diff = git("diff", base, "--", "*.rs")
    for path in git("ls-files", "-z", "--others", "--exclude-standard", "--", "*.rs").split("\0"):
        if path:
            # Its exit status says that there is a difference.
            new = subprocess.run(["git", "diff", "--no-index", "/dev/null", path], cwd=ROOT, capture_output=True, text=True)
            diff += new.stdout
    return diff


def left_main():
    """Where this branch left the main one; on the main one, the commit before."""
    head = git("rev-parse", "HEAD").strip()
    for main_branch in ("origin/main", "main"):
        try:
            base = git("merge-base", "HEAD", main_branch).strip()
        except subprocess.CalledProcessError:
            continue
        if base != head or git("status", "--porcelain", "--untracked-files=normal").strip():
            return base
    return git("rev-parse", "HEAD^").strip()
