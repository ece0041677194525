"""Cases of the league: a machine, what goes on in it, and what is known of that by hand."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent

# What is emitted in each channel, and what that comes to, by hand: lines a second times 64 bytes, in MB/s (10^6 bytes) for one socket.
# E5-2600: four channels; Nehalem: three channels of one unit; Emerald Rapids: eight channels, and only reads can be emitted.
LINE = 64
CHANNELS = {"e5-2600": 4, "nehalem": 3, "emerald-rapids": 8}


@dataclass
class Case:
    name: str
    # What is shown of it in the table.
    about: str
    family: str
    machine: str
    sockets: int = 1
    # Lines that each channel reads and writes a second; without them, a workload goes on.
    reads: int = 0
    writes: int = 0
    workload: str = ""
    # Channels that are there for software to see, in all sockets; -1: all.
    visible: int = -1
    # Registers that hold something before the tool comes.
    registers: list = field(default_factory=list)
    # Counter of each channel that somebody else has running.
    taken: list = field(default_factory=list)
    # Counters of each channel that hold the largest number but 15.
    wraps: list = field(default_factory=list)
    # A tool that counts at the same time.
    beside: str = ""
    # Whether it is played behind the doors, and in the guest; what happens there before the tools start, and words for the kernel.
    doors: bool = True
    guest: bool = True
    guest_before: str = ""
    append: str = ""

    def channels(self):
        return CHANNELS[self.family] * self.sockets if self.visible < 0 else self.visible

    def by_hand(self):
        """MB/s read and written; None where a workload goes on."""
        if self.workload:
            return None
        return tuple(rate * LINE * self.channels() / 1e6 for rate in (self.reads, self.writes))

    def traffic(self):
        """Arguments of `pericore machine run` for it."""
        if self.workload:
            return ["--workload", self.workload]
        rates = []
        if self.family == "e5-2600":
            rates = [("imc/CAS_COUNT.RD_REG", self.reads), ("imc/CAS_COUNT.WR_WMM", self.writes)]
        elif self.family == "emerald-rapids":
            rates = [("imc/cas", self.reads)]
        else:
            for channel in range(3):
                rates.append((f"uncore/QMC_NORMAL_READS.CH{channel}", self.reads))
                rates.append((f"uncore/QMC_WRITES.FULL_CH{channel}", self.writes))
        return [word for name, rate in rates if rate for word in ("--inject", f"{name}={rate}")]


def load(path=HERE / "cases.toml"):
    """All cases, in the order of the file; `machine` defaults to the family with its sockets and `broken`."""
    cases = []
    for row in tomllib.loads(Path(path).read_text())["case"]:
        broken = row.pop("broken", "")
        family = row["family"]
        sockets = row.get("sockets", 1)
        keys = ",".join(key for key in (f"sockets={sockets}", broken) if key)
        row.setdefault("machine", family)
        row["machine"] = f"{row['machine']}:{keys}"
        if not row.get("workload") and "reads" not in row:
            row["reads"] = 20_000_000
            row["writes"] = 0 if family == "emerald-rapids" else 10_000_000
        case = Case(**row)
        if case.family == "emerald-rapids" and case.writes:
            raise ValueError(f"{case.name}: no writes can be emitted on {case.family}")
        cases.append(case)
    names = [case.name for case in cases]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two cases are called {', '.join(sorted(twice))}")
    return cases
