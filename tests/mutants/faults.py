"""The faults that cargo-mutants knows, by area, and those that may live."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tree import ROOT, WORK

VERSION = "27.1.0"


@dataclass(frozen=True)
class Fault:
    """One change, as cargo-mutants lists it."""

    name: str
    file: str
    genre: str
    start: tuple
    end: tuple
    replacement: str
    returns: str

    @property
    def change(self):
        """The change without its line and column, which move."""
        return self.name.split(":", 3)[3].strip()


def install():
    if shutil.which("cargo-mutants") is None:
        subprocess.run(["cargo", "install", "cargo-mutants", "--version", VERSION, "--locked", "--quiet"], check=True)


def cargo_mutants(directory, *words):
    return ["cargo", "mutants", "--dir", str(directory), "--colors", "never", *words]


def list_faults(*words):
    command = cargo_mutants(ROOT, "--list", "--json", *words)
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout or "[]")
    return [fault_of(row) for row in rows]


def fault_of(row):
    start, end = ((place["line"], place["column"]) for place in (row["span"]["start"], row["span"]["end"]))
    returns = (row["function"] or {}).get("return_type", "")
    return Fault(row["name"], row["file"], row["genre"], start, end, row["replacement"], returns)


def of_area(area, found=None):
    """An area's faults, in an order that does not depend on cargo-mutants."""
    found = list_faults(*named("--package", area)) if found is None else found
    return sorted((fault for fault in found if is_of(area, fault.file)), key=lambda fault: fault.name)


def packages(area):
    """The crates of an area."""
    named = area["package"]
    return [named] if isinstance(named, str) else named


def named(option, area):
    """An option of cargo-mutants for each crate of an area."""
    return [word for package in packages(area) for word in (option, package)]


def is_of(area, file):
    return any(fnmatchcase(file, glob) for glob in area["files"])


def of_change(areas, diff):
    """The faults of changed lines, by area: a file belongs to the first that names it."""
    file = WORK / "change.diff"
    file.write_text(diff)
    work = {}
    for fault in list_faults("--workspace", "--in-diff", str(file)):
        for name in [name for name, area in areas.items() if is_of(area, fault.file)][:1]:
            work.setdefault(name, []).append(fault)
    print(f"{sum(map(len, work.values()))} mutants of what has changed", flush=True)
    return {name: sorted(work[name], key=lambda fault: fault.name) for name in areas if name in work}


class Allowed:
    """Faults that may live, by file and change."""

    def __init__(self, rows):
        self.reasons = {}
        for row in rows:
            for change in [row["change"]] if isinstance(row["change"], str) else row["change"]:
                self.reasons[row["file"], change] = row["why"]

    def why(self, fault):
        return self.reasons.get((fault.file, fault.change))
