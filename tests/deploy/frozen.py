"""What docs/development/stability.md freezes is what the program prints: `frozen.py PROGRAM`."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import pyarrow.parquet

PROGRAM = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/development/stability.md").read_text()
MACHINE = ["--machine", "e5-2600"]
STAT = ["stat", *MACHINE, "--workload", "stream:requests=500", "-e", "imc/CAS_COUNT.RD/"]
# Each row of the document's tables of keys, and what prints it.
COMMANDS = {
    "`pericore stat -j`": [*STAT, "-j"],
    "`pericore stat -j` on a software machine": [*STAT, "-j"],
    "`pericore stat -j --truth`": [*STAT, "-j", "--truth"],
    "`pericore stat -j -M`": [*STAT, "-j", "-M", "MEM_BW_READS"],
    "`pericore list --json`": ["list", *MACHINE, "--json", "LLC_VICTIMS"],
    "`pericore list --registers --json`": ["list", *MACHINE, "--registers", "--json"],
    "`pericore list --metrics --json`": ["list", *MACHINE, "--metrics", "--json"],
}
failures = []


def run(arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.returncode}: {done.stderr}")
    return done.stdout + done.stderr


def rows():
    for line in DOCUMENT.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 2 and cells[1].startswith("`"):
            yield cells[0], re.findall(r"`([^`]+)`", cells[1])


def check_keys(row, keys):
    printed = set()
    for line in run(COMMANDS[row]).splitlines():
        if line.startswith("{"):
            printed |= json.loads(line).keys()
    for key in keys:
        if key not in printed:
            failures.append(f"{row}: the document freezes {key}, and what is printed has {sorted(printed)}")


def check_columns(columns, folder):
    table = f"{folder}/run.parquet"
    run(["record", "-o", table, *STAT[1:]])
    found = pyarrow.parquet.read_schema(table)
    for column in columns:
        if column not in found.names:
            failures.append(f"the table has no column {column}: {found.names}")
    version = found.metadata[b"pericore.table"].decode()
    check_version("`pericore.table` in the metadata, ", version)


def check_version(before, version):
    if before + version not in DOCUMENT:
        failures.append(f"the document does not have {before}{version}")


def revision():
    """The 64-bit FNV-1a hash of the files with the catalogue's data, by name; a length of 8 bytes before each name and content."""
    number = 0xCBF29CE484222325
    folder = ROOT / "catalog"
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in [".md", ".py", ".pyc"]]
    for file in sorted(files, key=lambda path: path.parts):
        for part in [str(file.relative_to(folder)).encode(), file.read_bytes()]:
            for byte in len(part).to_bytes(8, "little") + part:
                number = (number ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{number >> 16:012x}"


with tempfile.TemporaryDirectory() as folder:
    seen = set()
    for row, keys in rows():
        if row in COMMANDS:
            check_keys(row, keys)
            seen.add(row)
        elif row == "`record -o FILE.parquet`":
            check_columns(keys, folder)
            seen.add(row)
    for row in COMMANDS.keys() - seen:
        failures.append(f"the document has no row {row}")
    recording = f"{folder}/run.rec"
    run(["record", "-o", recording, *STAT[1:]])
    first = json.loads(pathlib.Path(recording).read_text().splitlines()[0])
    check_version("`pericore-recording`, ", str(first["pericore-recording"]))
    snapshot = run(["machine", "dump", *MACHINE]).splitlines()
    heading = next(line for line in snapshot if line.startswith("pericore-machine"))
    check_version("first line, `", heading + "`")
version = run(["--version"]).strip()
own = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE).group(1)
if version != f"pericore {own} (catalogue {revision()})":
    failures.append(f"--version prints {version}, and the catalogue has the revision {revision()}")
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(bool(failures))
