"""`tests/run sampling`: runs the cases whole and sampled, and prints how counts compare."""

import argparse
import datetime
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from . import data, play, table

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def main():
    options = arguments()
    described = tomllib.loads((HERE / "cases.toml").read_text())
    cases = described["case"]
    if options.case:
        cases = [one for one in cases if any(re.search(pattern, one["name"]) for pattern in options.case)]
        if not cases:
            sys.exit(f"no case's name has {' or '.join(options.case)} in it")
    pericore = os.environ.get("PERICORE_MEASURED", str(ROOT / "target/release/pericore"))
    results = []
    with tempfile.TemporaryDirectory(prefix="pericore-sampling-") as folder:
        files = data.make(Path(folder), ROOT)
        for one in cases:
            result = play.play(pericore, one, files, Path(folder), described["shares"], options)
            results.append(result)
            print(table.line(result), flush=True)
    text = table.text(results)
    print(text, end="")
    if options.log:
        write(options, pericore, results, text)
    sys.exit(0 if table.are_good(results) else 1)


def write(options, pericore, results, text):
    today = datetime.date.today().isoformat()
    revision = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    version = subprocess.run([pericore, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    folder = ROOT / "tests" / "logs" / "sampling"
    folder.mkdir(parents=True, exist_ok=True)
    command = f"tests/run sampling --seeds {options.seeds} --log"
    head = f"{command}\n{today}, {version}, revision {revision}, {os.cpu_count()} processors\n\n"
    lines = "".join(table.line(result) + "\n" for result in results)
    (folder / f"{today}.log").write_text(head + lines + text)


def arguments():
    parser = argparse.ArgumentParser(prog="tests/run sampling", description=__doc__)
    parser.add_argument("--case", action="append", metavar="REGEX", help="only cases with this in their name")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="sampled runs of each case, each with other events (3)")
    parser.add_argument("--events", type=int, default=12, metavar="N", help="events that are drawn for a run (12)")
    parser.add_argument("--program", metavar="SHARE", help="another share of programs, or error=P%%")
    parser.add_argument("--workload", metavar="SHARE", help="another share of workloads, or error=P%%")
    parser.add_argument("--outside", action="store_true", help="print each count that is outside of its interval")
    parser.add_argument("--log", action="store_true", help="write tests/logs/sampling/DATE.log")
    return parser.parse_args()


if __name__ == "__main__":
    main()
