"""Whether the comparison finds what it is for: changes of behaviour as patches, each of which it has to report, and no change, of which it must not."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from . import build, matrix, slices
from .causes import Causes
from .comparison import Comparison, compare, configurations
from .meant import Meant, entry
from .report import described
from .store import Store, digest

FOLDER = Path(__file__).with_name("planted")
# A patch begins with these lines: what it changes, and a pattern, as in `meant.toml`, of what has to be found.
ABOUT, FOUND = "About: ", "Found: "

# Configurations beyond the sample that are tried for a planted change.
MORE = 20


@dataclass(frozen=True)
class Planted:
    path: Path
    about: str
    expected: Meant


def read(path: Path) -> Planted:
    head = {line.split(": ")[0]: line for line in path.read_text().split("\ndiff ", 1)[0].splitlines()}
    about, found = (head.get(word.split(":")[0], "").removeprefix(word) for word in (ABOUT, FOUND))
    if not about or not found:
        raise SystemExit(f"compare: {path}: begin it with the lines '{ABOUT}…' and '{FOUND}output = \"…\"'")
    return Planted(path, about, entry({"reason": about} | tomllib.loads(f"patterns = {{ {found} }}")["patterns"], str(path)))


def built(commit: str, patch: Path) -> build.Built:
    """The revision with a patch. The clone is as it was before when the next one checks out."""
    name = f"{commit}-{patch.stem}-{digest(patch)}"
    binary = build.cache() / "binaries" / name / "pericore"
    if not binary.is_file():
        source = build.check_out(commit)
        build.git("apply", str(patch.resolve()), folder=source)
        build.cargo(source, build.cache() / "target")
        binary = build.keep(build.cache() / "target" / "debug" / "pericore", name)
    return build.Built(patch.stem, binary, Store(build.cache() / "outcomes" / f"new-{name}"))


def check(revision: str, jobs: int, seed: int) -> int:
    """Plants each in the revision, and compares with the revision as it is, in a sample of one configuration of each kind.

    Of a planted change, those of the sample that can show it, and some more if none of them does: a plan may have no step that has changed. Of
    none, all.
    """
    base = build.revision(revision)
    commit = build.git("rev-parse", "--verify", f"{revision}^{{commit}}")
    missed = 0
    itself = build.Built(f"{revision} itself", base.binary, Store(build.cache() / "outcomes" / f"new-{commit}"))
    changes: list[tuple[build.Built, Planted | None]] = [(itself, None)]
    changes += [(built(commit, path), read(path)) for path in sorted(FOLDER.glob("*.patch"))]
    for changed, planted in changes:
        sides = (base, changed)
        known = configurations(sides, matrix.read())
        chosen = slices.one_of_each(known, seed)
        if planted:
            chosen = [configuration for configuration in chosen if planted.expected.may_be_in(configuration)]
        result = compare(chosen, sides, [planted.expected] if planted else [], jobs, None)
        if planted:
            rest = [one for one in slices.chosen(known, seed, None) if planted.expected.may_be_in(one) and one not in chosen]
            for one in rest[:MORE]:
                if result.meant.found:
                    break
                result = compare([*result.compared, one], sides, [planted.expected], jobs, None)
        right = bool(result.meant.found) if planted else not result.causes.found
        missed += not right
        print("\n".join(told(changed.name, planted, right, result)), flush=True)
    print(f"{len(changes) - missed} of {len(changes)} as they have to be")
    if len(changes) == 1:
        print(f"nothing was planted: {FOLDER} has no patch")
    return 1 if missed or len(changes) == 1 else 0


def told(name: str, planted: Planted | None, right: bool, result: Comparison) -> list[str]:
    others = f"{len(result.causes.found)} other causes, {len(result.compared)} configurations"
    if planted is None:
        return [f"{'none  ' if right else 'WRONG '} {name}: {others}", *examples(result.causes)]
    return [f"{'found ' if right else 'MISSED'} {name}: {planted.about} ({others})", *examples(result.meant)]


def examples(causes: Causes) -> list[str]:
    return [line for cause in causes.sorted()[:1] for line in described(cause)]
