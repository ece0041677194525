"""`tests/run compare REVISION`: what behaves otherwise than in that revision."""

import argparse
import os
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from . import build, matrix, planted, report, slices
from .comparison import compare, configurations
from .meant import FILE, MeantError, read


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/run compare", description="Lists by cause what this checkout does otherwise than a revision.")
    parser.add_argument("revision", help="the revision to compare with, such as HEAD or origin/main")
    parser.add_argument("--tenth", type=int, metavar="N", choices=range(1, slices.TENTHS + 1), help="only this tenth, from 1 to 10")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which configurations make a tenth, and in which order all are run (1)")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no configuration after so many minutes of running")
    parser.add_argument("--only", metavar="PATTERN", help="only configurations with such a name, as in 'emerald-rapids*'")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="J", help="so many at the same time (all CPUs)")
    parser.add_argument("--meant", type=Path, default=FILE, metavar="FILE", help="causes that are meant (tests/compare/meant.toml)")
    parser.add_argument("--list", action="store_true", help="list the configurations, and run none")
    parser.add_argument(
        "--planted", action="store_true", help="instead plant each change of tests/compare/planted in the revision, and see whether it is found"
    )
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    if asked.planted:
        return planted.check(asked.revision, asked.jobs, asked.seed)
    try:
        meant = read(asked.meant)
    except (MeantError, OSError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    sides = (build.revision(asked.revision), build.this_checkout())
    known = configurations(sides, matrix.read())
    chosen = slices.chosen(known, asked.seed, asked.tenth)
    if asked.only:
        chosen = [configuration for configuration in chosen if fnmatchcase(configuration.name, asked.only)]
        if not chosen:
            print(f"compare: no configuration is called {asked.only}; --list shows their names", file=sys.stderr)
            return 2
    if asked.list:
        for configuration in chosen:
            print(f"{configuration.kind:10} {len(configuration.commands):4}  {configuration.name}")
        return 0
    part = "all" if len(chosen) == len(known) else f"{len(known)} (seed {asked.seed})"
    print(f"{sides[1].name} against {sides[0].name}", flush=True)
    result = compare(chosen, sides, meant, asked.jobs, None if asked.minutes is None else asked.minutes * 60)
    print("\n".join(report.lines(result, meant, part)))
    return 1 if result.causes.found else 0


if __name__ == "__main__":
    sys.exit(main())
