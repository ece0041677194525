"""Many faults in one source: each stands beside what it replaces, and a number in the environment selects one when the program runs.

An operator becomes `(match crate::__fault::at(SITE) { 0..=6 | 9.. => (a + b), 7 => (a - b), 8 => (a * b) })`: 7 and 8 are the faults of this
place. What is inside of `a` and `b` has its own faults in the first arm alone, since only one is planted at a time.
"""

import json
import os
import subprocess
from dataclasses import dataclass, field

from tree import HERE, ROOT, WORK

# What would be refused or doubted in the code of a fault.
ALLOW = (
    b"#![allow(warnings, static_mut_refs, arithmetic_overflow, unconditional_panic, overflowing_literals, unsafe_op_in_unsafe_fn, "
    b"clippy::all, missing_docs)]"
)


# Room for the marks of all places, as in runtime.rs; always the same, so that a crate is built anew only when its own faults change.
PLACES = 1 << 16


@dataclass
class Site:
    """A place in a file, with the faults that can be planted there."""

    number: int
    file: str
    parts: dict
    faults: list = field(default_factory=list)  # of (number, Fault)


@dataclass
class Source:
    """A file with faults, and where in it each of them stands."""

    file: str
    text: bytes
    arms: list  # (start, end, fault's number)
    sites: list  # (start, end, site)


def locate(faults):
    """What lies around each fault; None where that is not known."""
    manifest = HERE / "locate/Cargo.toml"
    target = WORK / "locate"
    command = ["cargo", "run", "--quiet", "--release", "--locked", "--manifest-path", str(manifest)]
    rows = [{"file": fault.file, "genre": fault.genre, "line": fault.start[0], "column": fault.start[1]} for fault in faults]
    request = json.dumps({"root": str(ROOT), "faults": rows})
    run = subprocess.run(command, input=request, capture_output=True, text=True, env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    if run.returncode:
        raise SystemExit(f"the program that finds faults in the sources fails: {run.stderr}")
    return json.loads(run.stdout)


def sites_of(numbered, parts):
    """The sites of all faults: those of one place share it. `numbered` maps numbers to faults; the numbers of a site follow each other."""
    sites = {}
    for number, fault in numbered.items():
        key = fault.file, fault.genre, fault.start
        site = sites.setdefault(key, Site(len(sites), fault.file, parts[fault]))
        site.faults.append((number, fault))
    return list(sites.values())


def rewrite(file, original, sites, dropped, prefix):
    """The file's text with its faults, but for dropped ones, after a prefix."""
    nodes = []
    for site in sites:
        chosen = [(number, fault) for number, fault in site.faults if number not in dropped]
        if chosen:
            nodes.append(Node(original, site, chosen))
    # Outer ones first; of equal ranges the one that holds the other.
    nodes.sort(key=lambda node: (node.start, node.start != node.end, -node.end, node.depth))
    return assemble(file, [prefix, *render(original, 0, len(original), nodes)])


class Node:
    """A site's rewriting: what stands before and after the original text of a range."""

    def __init__(self, text, site, faults):
        self.site = site
        parts, kind = site.parts, site.parts["kind"]
        at = b"crate::__fault::at(%d)" % site.number
        self.start, self.end = parts["range"]
        self.depth = 1
        if kind == "body":
            self.end = self.start
            arms = [(number, b"return %s" % (fault.replacement.encode() or b"()")) for number, fault in faults]
            self.before = [b"match %s { %s => {} " % (at, others(faults)), *self.arms(arms), b"}; "]
            self.after = []
        elif kind == "arm":
            number = faults[0][0]
            guard = parts["guard"]
            self.depth = 0
            self.start, self.end = guard or (parts["pattern"][1],) * 2
            self.before = [("open", number), b"%s %s != %d" % (b"" if guard else b" if", at, number), ("close", number)]
            self.before += [b" && ("] if guard else []
            self.after = [b")"] if guard else []
        else:
            arms = [(number, self.expression(text, fault)) for number, fault in faults]
            self.before = [b"(match %s { %s => (" % (at, others(faults))]
            self.after = [b"), ", *self.arms(arms), b"})"]

    @staticmethod
    def arms(arms):
        return [piece for number, text in arms for piece in (b"%d => " % number, ("open", number), text, ("close", number), b", ")]

    def expression(self, text, fault):
        parts = self.site.parts
        if parts["kind"] == "guard":
            return b"(%s)" % fault.replacement.encode()
        if parts["kind"] == "field":
            base = text[slice(*parts["base"])]
            if parts["base_is_place"]:
                return b"(%s).%s" % (base, parts["name"].encode())
            return b"{ let base: %s = %s; base.%s }" % (text[slice(*parts["path"])], base, parts["name"].encode())
        start = offset(text, fault.start)
        end = offset(text, fault.end)
        return b"(%s%s%s)" % (text[parts["range"][0]:start], fault.replacement.encode(), text[end:parts["range"][1]])


def others(faults):
    """The pattern of all numbers but a site's, which may have lost some of its own."""
    wanted = sorted(number for number, _ in faults)
    ranges, low = [], 0
    for number in wanted:
        if low < number:
            ranges.append(b"%d..=%d" % (low, number - 1))
        low = number + 1
    return b" | ".join([*ranges, b"%d.." % low])


def offset(text, place):
    """The offset of a line and column, both from 1, the column in characters."""
    line, column = place
    start = 0
    for _ in range(line - 1):
        start = text.index(b"\n", start) + 1
    end = text.find(b"\n", start)
    return start + len(text[start:end].decode()[: column - 1].encode())


def render(text, start, end, nodes):
    """Pieces of a range: text, and marks where sites and faults begin and end."""
    pieces = []
    while nodes:
        node, rest = nodes[0], nodes[1:]
        inner = [other for other in rest if node.start <= other.start and other.end <= node.end and node.end > node.start]
        nodes = [other for other in rest if other not in inner]
        pieces += [text[start:node.start], ("open", node.site), *node.before]
        pieces += render(text, node.start, node.end, inner)
        pieces += [*node.after, ("close", node.site)]
        start = node.end
    return [*pieces, text[start:end]]


def assemble(file, pieces):
    text, opened, arms, sites = bytearray(), [], [], []
    for piece in pieces:
        if isinstance(piece, bytes):
            text += piece
        elif piece[0] == "open":
            opened.append(len(text))
        elif isinstance(piece[1], Site):
            sites.append((opened.pop(), len(text), piece[1]))
        else:
            arms.append((opened.pop(), len(text), piece[1]))
    return Source(file, bytes(text), arms, sites)


def runtime():
    """The module of each crate that has faults. A thread marks a place before it runs it: in a file that all processes of a test share."""
    return b"\n" + (HERE / "runtime.rs").read_bytes()
