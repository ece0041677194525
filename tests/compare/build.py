"""Binaries to compare: this checkout's, and another revision's, built beside it and kept."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .command import REPOSITORY
from .store import Store, digest


@dataclass(frozen=True)
class Built:
    """A binary, and where its outcomes are kept. Each side has its own store, so that a revision can be compared with itself."""

    name: str
    binary: Path
    store: Store


def cache() -> Path:
    """`$XDG_CACHE_HOME/pericore/compare`. All in it can be removed; then it is built and run again."""
    home = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/tmp")) / ".cache"
    return Path(home) / "pericore" / "compare"


def git(*arguments: str, folder: Path = REPOSITORY) -> str:
    ended = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"compare: git {' '.join(arguments)} failed in {folder}:\n{ended.stderr.strip()}")
    return ended.stdout.strip()


def cargo(folder: Path, target: Path | None, *options: str) -> None:
    """Builds with the profile `dev`, which optimises the models, as the tests do."""
    # A variable of ours may mean another thing in another revision: PERICORE_CATALOG was once the catalogue to build.
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PERICORE_")}
    settings |= {"CARGO_TARGET_DIR": str(target)} if target else {}
    ended = subprocess.run(["cargo", "build", "--quiet", "--locked", "-p", "pericore", *options], cwd=folder, env=settings, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"compare: {folder} does not build: see cargo's words above")


def this_checkout() -> Built:
    cargo(REPOSITORY, None)
    built = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target") / "debug" / "pericore"
    name = digest(built)
    return Built("this checkout", keep(built, name), Store(cache() / "outcomes" / f"new-{name}"))


def keep(built: Path, name: str) -> Path:
    """A copy that the next build does not overwrite."""
    binary = cache() / "binaries" / name / "pericore"
    if not binary.is_file():
        binary.parent.mkdir(parents=True, exist_ok=True)
        part = binary.with_suffix(f".{os.getpid()}.part")
        shutil.copy2(built, part)
        part.replace(binary)
    return binary


def revision(name: str) -> Built:
    """A revision's binary. One checkout and one target folder serve all revisions, so that cargo builds only what changed between them."""
    commit = git("rev-parse", "--verify", f"{name}^{{commit}}")
    binary = cache() / "binaries" / commit / "pericore"
    if not binary.is_file():
        cargo(check_out(commit), cache() / "target")
        binary = keep(cache() / "target" / "debug" / "pericore", commit)
    return Built(f"{name} ({commit[:12]})", binary, Store(cache() / "outcomes" / f"base-{commit}"))


def check_out(commit: str) -> Path:
    """The cache's own clone at that commit. Nothing is written into the repository, not even a worktree's name."""
    source = cache() / "source"
    if not (source / ".git").is_dir():
        source.mkdir(parents=True, exist_ok=True)
        git("init", "--quiet", folder=source)
    git("fetch", "--quiet", "--force", str(REPOSITORY), commit, folder=source)
    git("checkout", "--quiet", "--force", "--detach", commit, folder=source)
    git("clean", "-fdq", folder=source)
    return source
