"""What a campaign found, and whether that will do."""

import datetime
from collections import Counter

from faults import VERSION, packages

CAUGHT, LATE, MISSED, UNVIABLE, FIXED = "caught", "late", "missed", "unviable", "fixed"
VIABLE = (CAUGHT, LATE, MISSED)


class Campaign:
    """The faults of one area, in the order in which they are taken, and what became of each."""

    def __init__(self, name, area, faults, sample, seed, allowed):
        self.name, self.area, self.faults, self.sample, self.seed, self.allowed = name, area, faults, sample, seed, allowed
        self.results = {}
        self.unreached = set()
        # Tests fail without a fault.
        self.is_broken = False
        self.seconds = 0.0

    def of(self, *kinds):
        return sorted((fault for fault, kind in self.results.items() if kind in kinds), key=lambda fault: (fault.file, fault.start, fault.name))

    def viable(self):
        return len(self.of(*VIABLE))

    def share(self):
        return 100.0 * len(self.of(CAUGHT, LATE)) / self.viable() if self.viable() else 100.0

    def is_well(self, is_change):
        explained = all(self.allowed.why(fault) for fault in self.of(MISSED))
        # An area without faults is one whose files have moved away.
        return explained and (is_change or self.viable() > 0 and self.share() >= self.area["least"])

    def report(self, revision):
        number = Counter(self.results.values())
        fixed = f", {number[FIXED]} cannot be chosen when the program runs" if number[FIXED] else ""
        lines = [
            f"== mutants of {self.name} ({' '.join(packages(self.area))}: {' '.join(self.area['files'])})",
            f"{datetime.date.today()}, revision {revision}, cargo-mutants {VERSION}",
            f"seed {self.seed}; {len(self.results)} of {len(self.faults)} tested in {self.seconds / 60:.0f} minutes: "
            f"{self.viable()} viable, {number[UNVIABLE]} do not compile{fixed}",
            f"caught {number[CAUGHT] + number[LATE]} of {self.viable()} viable ({number[LATE]} by time): {self.share():.1f} %, "
            f"at least {self.area['least']} % wanted"
            if self.viable()
            else "no viable mutant was tested",
        ]
        missed = self.of(MISSED)
        lines += ["survivors:" if missed else "survivors: none"]
        for fault in missed:
            lines += [f"  {fault.name}", *(["      no test of the area runs it"] if fault in self.unreached else [])]
            lines += [f"      may live: {self.allowed.why(fault) or 'NO REASON GIVEN, see tests/mutants/allowed.toml'}"]
        rest = [fault.name for fault in self.faults if fault not in self.results]
        if rest and self.viable() < self.sample:
            lines += ["not tested, for want of time:", *(f"  {name}" for name in sorted(rest))]
        return "\n".join(lines)
