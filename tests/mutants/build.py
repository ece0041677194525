"""Builds the copy with its faults; those that the compiler refuses are dropped, until it refuses none."""

import hashlib
import json
import os
import re
import subprocess
import sys

import schemata
from report import FIXED, UNVIABLE
from tree import ROOT, TREE, WORK, copy_tree


class Build:
    """The faults of all campaigns in one tree."""

    def __init__(self, faults):
        parts = dict(zip(faults, schemata.locate(faults)))
        # The faults of a place have numbers that follow each other.
        ordered = sorted(faults, key=lambda fault: (fault.file, fault.start, fault.genre, fault.name))
        self.memory = Memory({fault.file for fault in faults})
        self.dropped = {fault: why for fault in ordered if (why := refused(fault, parts[fault]) or self.memory.why(fault))}
        self.numbered = dict(enumerate((fault for fault in ordered if fault not in self.dropped), start=1))
        self.numbers = {fault: number for number, fault in self.numbered.items()}
        self.sites = schemata.sites_of(self.numbered, parts)
        self.site_of = {number: site.number for site in self.sites for number, _ in site.faults}
        self.sources = {}

    def plant(self):
        """Brings the copy up to date, with all faults that were not dropped."""
        gone = {self.numbers[fault] for fault in self.dropped if fault in self.numbers}
        by_file = {}
        for site in self.sites:
            by_file.setdefault(site.file, []).append(site)
        roots = {root for file in by_file for root in roots_of(file)}
        for file in [*by_file, *(root for root in roots if root not in by_file)]:
            text = (ROOT / file).read_bytes()
            prefix = schemata.ALLOW if file in roots else b""
            self.sources[file] = schemata.rewrite(file, text, by_file.get(file, []), gone, prefix)
        texts = {file: source.text for file, source in self.sources.items()}
        copy_tree({file: text + schemata.runtime() if file in roots else text for file, text in texts.items()})

    def compile(self, packages):
        """The test programs. Ends when the compiler refuses what is no fault's."""
        while True:
            self.plant()
            programs, errors = cargo_test(packages)
            if not errors:
                self.memory.keep(self.dropped)
                return programs
            before = len(self.dropped)
            for error in errors:
                self.drop(error)
            if len(self.dropped) == before:
                print("\n".join(error["rendered"] for error in errors)[:20000])
                sys.exit("the compiler refuses more than the faults, see above")
            print(f"   {len(self.dropped)} faults cannot be built in", file=sys.stderr, flush=True)

    def drop(self, error):
        """Drops the faults that an error is about: where it points at, or else points out."""
        code = (error.get("code") or {}).get("code")
        spans = [span for span in all_spans(error) if span["file_name"] in self.sources]
        ways = [[span for span in spans if span["is_primary"]], spans]
        if code != "E0080":
            for way in ways:
                numbers = {number for span in way for number in self.arms_at(span)}
                if numbers:
                    self.dropped.update({self.numbered[number]: UNVIABLE for number in numbers})
                    return
        if code == "E0004" and (found := self.arms_of_match(spans)):
            self.dropped.update({fault: UNVIABLE for site in found for _, fault in site.faults if fault not in self.dropped})
            return
        for way in reversed(ways) if code == "E0080" else ways:
            sites = [site for span in way for site in self.sites_at(span)]
            if sites:
                kind = FIXED if code in ("E0080", "E0015") else UNVIABLE
                self.dropped.update({fault: kind for site in sites for _, fault in site.faults if fault not in self.dropped})
                return

    def arms_of_match(self, spans):
        """The deleted arms of a match that lacks one: from what is matched to where the compiler would add an arm."""
        if not spans:
            return []
        first, last = min(span["byte_start"] for span in spans), max(span["byte_end"] for span in spans)
        sites = self.sources[spans[0]["file_name"]].sites
        return [site for start, _, site in sites if site.parts["kind"] == "arm" and first <= start <= last]

    def arms_at(self, span):
        source = self.sources[span["file_name"]]
        found = [row for row in source.arms if row[0] <= span["byte_start"] and span["byte_end"] <= row[1]]
        return [min(found, key=lambda row: row[1] - row[0])[2]] if found else []

    def sites_at(self, span):
        """The innermost site that holds a place, or else those that it holds, or else the function's that it is in."""
        source = self.sources[span["file_name"]]
        around = [row for row in source.sites if row[0] <= span["byte_start"] and span["byte_end"] <= row[1]]
        if around:
            return [min(around, key=lambda row: row[1] - row[0])[2]]
        inside = [row[2] for row in source.sites if span["byte_start"] <= row[0] and row[1] <= span["byte_end"]]
        # What follows from a function's other results is said anywhere in its body.
        bodies = [row for row in source.sites if row[1] <= span["byte_start"] and row[2].parts["kind"] == "body"]
        return inside or [row[2] for row in sorted(bodies, key=lambda row: row[0])[-1:]]


class Memory:
    """What the compiler refused in earlier builds, by file and its text."""

    def __init__(self, files):
        self.path = WORK / "refused.json"
        self.rows = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.texts = {file: hashlib.sha256((ROOT / file).read_bytes()).hexdigest() for file in files}

    def key(self, fault):
        return f"{self.texts[fault.file]} {fault.name}"

    def why(self, fault):
        return self.rows.get(self.key(fault))

    def keep(self, dropped):
        self.rows.update({self.key(fault): why for fault, why in dropped.items()})
        self.path.write_text(json.dumps(self.rows))


def refused(fault, parts):
    """Why a fault is not tried at all."""
    if parts is None or parts.get("has_let") and fault.replacement in ("||", "&&"):
        return UNVIABLE
    # The compiler refuses it in a constant function, and elsewhere mostly; but some files are compiled by a build script, too, whose
    # errors cannot be read.
    is_read = not parts.get("in_const_fn") and len(roots_of(fault.file)) == 1
    if not is_read and re.search(r"default\(\)|new\(|into\(|from\(|empty\(|vec!", fault.replacement):
        return UNVIABLE
    # A function that hides its type returns one type only.
    hides = fault.genre == "FnValue" and "impl " in fault.returns
    return FIXED if parts["is_const"] or hides else None


def roots_of(file):
    """The roots of the crates to which a file belongs: of its package, and of what a build script compiles with it."""
    package, _, inside = file.partition("/src/")
    is_program = inside == "main.rs" or not (ROOT / package / "src/lib.rs").exists()
    others = [path for path in (ROOT / package).glob("*/*.rs") if f'#[path = "../src/{inside}"]' in path.read_text()]
    return [f"{package}/src/{'main' if is_program else 'lib'}.rs", *(str(path.relative_to(ROOT)) for path in others)]


def all_spans(error):
    spans = []
    for message in [error, *error["children"]]:
        for span in message["spans"]:
            while span:
                spans.append(span)
                span = (span.get("expansion") or {}).get("span")
    return spans


def cargo_test(packages):
    """Builds the tests of some packages: the programs, or what the compiler refuses."""
    command = ["cargo", "test", "--no-run", "--profile", "mutants", "--message-format", "json"]
    command += [word for package in packages for word in ("--package", package)]
    run = subprocess.run(command, cwd=TREE, capture_output=True, text=True, env=environment())
    programs, errors = [], []
    for line in run.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["executable"] and message["profile"]["test"]:
            programs.append(message)
        elif message["reason"] == "compiler-message" and message["message"]["level"] == "error":
            errors.append(message["message"])
    # Each target says again how many errors there were.
    errors = [error for error in errors if error["spans"] or error["children"]]
    if run.returncode and not errors:
        print(run.stderr[-8000:])
        sys.exit("the copy does not build, see above")
    return programs, errors


def environment():
    return {**os.environ, "CARGO_TARGET_DIR": str(TREE / "target")}
