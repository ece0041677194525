"""What differs from run to run although nothing changed. Each rule says why; what is not listed here is compared to the last digit."""

import re

RULES: tuple[tuple[str, str, str], ...] = (
    # Pattern, replacement, reason.
    (r"real time: \S+ s, \d+ times as long", "real time: {wall}", "how long the simulation took"),
    (r"(?m)^ *\d+\.\d+(?= +(?:rdmsr|wrmsr|pcird|pciwr|memrd|memwr) )", "{wall}", "when a live session made an access"),
    (r"(?m)^(\{wall\} .*;) thread \d+$", r"\1 thread {thread}", "which thread of a live session made an access"),
)

COMPILED = [(re.compile(pattern), replacement) for pattern, replacement, _ in RULES]


# An access of a live session, and its socket.
ACCESS = re.compile(r"^\{wall\} .*; socket (\d+) ")


def normalised(text: str) -> str:
    for pattern, replacement in COMPILED:
        text = pattern.sub(replacement, text)
    return by_socket(text)


def by_socket(text: str) -> str:
    """A session has a thread for each socket, which do not wait for each other: only the order of a socket's accesses is compared."""
    lines = text.split("\n")
    found = [(place, int(access[1])) for place, line in enumerate(lines) if (access := ACCESS.match(line))]
    ordered = [lines[place] for place, _ in sorted(found, key=lambda access: access[1])]
    for (place, _), line in zip(found, ordered, strict=True):
        lines[place] = line
    return "\n".join(lines)
