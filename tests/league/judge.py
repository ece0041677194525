"""What became of a case: right, said, refused, wrong, crashed, or out of the tool's scope."""

import re
import signal
from dataclasses import dataclass, field

# A tool divides by its own time, on a host that is shared.
WITHIN = 0.03
# Words by which a tool says that something is not as it should be.
WORRY = re.compile(
    r"error|warn|\bnot\b|n't|cannot|unable|fail|unsupported|denied|refus|invalid|unreadable|suspect|doubt|missing|no .* found|<not", re.I
)
# What ends a program that did something wrong, or hangs. perf and pericore have other statuses above 128 of their own.
SIGNALS = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGSYS}
OUTCOMES = ("right", "said", "refused", "wrong", "crashed", "out")


@dataclass
class Printed:
    """What a tool has printed: MB/s, `None` where there is no number; and whether it doubts its numbers itself."""

    read: float | None = None
    write: float | None = None
    doubts: bool = False
    # By how many MB/s rounding to the printed digits may change a number.
    digit: float = 0.01

    def numbers(self):
        return (self.read, self.write)


@dataclass
class Verdict:
    outcome: str
    why: str = ""
    # What the tool left behind: running counters, somebody else's that it took.
    left: list = field(default_factory=list)


def worries(text):
    """Lines by which a tool worries, without their numbers: those that it prints on a sound machine, too, say nothing."""
    return {re.sub(r"0x[0-9a-f]+|[0-9]+", "#", line).strip() for line in text.splitlines() if WORRY.search(line)}


def close(shown, truth, other, digit):
    """Within the tolerance; where nothing happens, at most a thousandth of what happens in the other direction."""
    return abs(shown - truth) <= max(WITHIN * truth, 0.001 * other, digit)


def judge(printed, truth, text, status, usual):
    """The outcome for what was printed on a machine of which `truth` (MB/s read, written) is known. `usual` are the worries of a sound machine."""
    if status is None:
        return Verdict("crashed", "did not end")
    if status - 128 in SIGNALS:
        return Verdict("crashed", f"ended by signal {status - 128}")
    new = worries(text) - usual
    words = printed.doubts or bool(new)
    shown = printed.numbers()
    if None in shown:
        if words or status:
            return Verdict("refused", next(iter(sorted(new)), f"status {status}"))
        return Verdict("wrong", "no number and no word")
    right = all(close(number, true, sum(truth), printed.digit) for number, true in zip(shown, truth))
    if right:
        return Verdict("right")
    what = f"{shown[0]:.1f} and {shown[1]:.1f} MB/s for {truth[0]:.1f} and {truth[1]:.1f}"
    if not words:
        return Verdict("wrong", what)
    return Verdict("said", f"{what}; {next(iter(sorted(new)), 'marked as doubtful')}")
