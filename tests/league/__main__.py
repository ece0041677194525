"""`tests/run league`: plays the cases, and writes docs/league.md."""

import argparse
import os
import sys
import tomllib
from pathlib import Path

from . import case, report
from .play import Plays, versions
from .tools import TOOLS

ROOT = Path(__file__).parent.parent.parent


def main():
    options = arguments()
    cases = case.load()
    tools = [tool for tool in TOOLS if not options.tool or tool.name in options.tool]
    expected = {}
    if options.quick:
        expected = tomllib.loads((case.HERE / "quick.toml").read_text())
        wanted = {name for names in expected.values() for name in names}
        tools = [tool for tool in tools if tool.name in expected]
        cases = [one for one in cases if one.name in wanted]
    if options.case:
        known = {one.name for one in cases}
        if unknown := set(options.case) - known:
            sys.exit(f"no case is called {', '.join(sorted(unknown))}; choose from {', '.join(sorted(known))}")
        cases = [one for one in cases if one.name in options.case]
    results = report.Results.load(options.results) if options.results else report.Results()
    plays = Plays(options.pericore)
    # What the tools print on sound machines comes first: each family's first case.
    for tool in tools:
        for family in dict.fromkeys(one.family for one in cases):
            sound = next(one for one in case.load() if one.family == family)
            kept = results.find(tool.name, sound.name)
            if kept and kept["outcome"] != "out":
                plays.usual[(tool.name, family)] = set(kept["usual"])
            elif not tool.out(sound) and not tool.guest:
                plays.learn(tool, sound, plays.once(tool, sound))
    doors(options, plays, results, [tool for tool in tools if not tool.guest], cases, expected)
    guest(options, plays, results, [tool for tool in tools if tool.guest], cases)
    if options.quick:
        sys.exit(compare(results, expected))
    if not (options.case or options.tool):
        results.write(ROOT / "docs" / "league.md", ROOT / "tests" / "logs" / "league", versions(TOOLS))


def doors(options, plays, results, tools, cases, expected):
    for one in cases:
        for tool in tools:
            if expected and one.name not in expected[tool.name]:
                continue
            if results.find(tool.name, one.name):
                continue
            if why := tool.out(one):
                results.out(tool, one, why)
                continue
            play = plays.behind_doors(tool, one)
            # A busy host makes a sound number doubtful now and then.
            for _ in range(2 if expected else 0):
                if outcome(play.verdict.outcome, play.verdict.left) != expected[tool.name][one.name]:
                    play = plays.once(tool, one)
            results.add(tool, one, play, plays)
            results.save(options.results)


def guest(options, plays, results, tools, cases):
    for one in cases:
        wanted = [tool for tool in tools if not results.find(tool.name, one.name)]
        for tool in list(wanted):
            if why := tool.out(one):
                results.out(tool, one, why)
                wanted.remove(tool)
        if not wanted or options.no_guest:
            continue
        for name, play in plays.in_guest(wanted, one).items():
            tool = next(tool for tool in wanted if tool.name == name)
            if (name, one.family) not in plays.usual:
                plays.learn(tool, one, play)
                play.verdict = plays.verdict(tool, one, play.text, play.status, "")
            results.add(tool, one, play, plays)
        results.save(options.results)


def outcome(word, left):
    """As quick.toml has it."""
    return word + (", left" if left else "")


def compare(results, expected):
    """Whether the few cases came out as quick.toml has it."""
    status = 0
    for tool, names in expected.items():
        for name, wanted in names.items():
            found = results.find(tool, name)
            shown = outcome(found["outcome"], found["left"])
            if shown != wanted:
                print(f"{tool}, {name}: {shown} ({found['why']}) instead of {wanted}\n{found['text']}", file=sys.stderr)
                status = 1
    return status


def arguments():
    parser = argparse.ArgumentParser(prog="tests/run league", description=__doc__)
    parser.add_argument("--pericore", default=ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "pericore", help="the program")
    parser.add_argument("--quick", action="store_true", help="a few cases, compared with quick.toml")
    parser.add_argument("--case", action="append", help="only this case; may come more than once")
    parser.add_argument("--tool", action="append", help="only this tool; may come more than once")
    parser.add_argument("--no-guest", action="store_true", help="leave out what needs a guest")
    parser.add_argument("--results", help="keep results in this file, and go on from what it has")
    return parser.parse_args()


main()
