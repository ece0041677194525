"""What differs from run to run although nothing changed. Each rule says why; what is not listed here is compared to the last digit."""

import re

RULES: tuple[tuple[str, str, str], ...] = (
    # Pattern, replacement, reason.
    (r"real time: \S+ s, \d+ times as long", "real time: {wall}", "how long the simulation took"),
    (r"(?m)^ *\d+\.\d+(?= +(?:rdmsr|wrmsr|pcird|pciwr|memrd|memwr) )", "{wall}", "when a live session made an access"),
)

COMPILED = [(re.compile(pattern), replacement) for pattern, replacement, _ in RULES]


def normalised(text: str) -> str:
    for pattern, replacement in COMPILED:
        text = pattern.sub(replacement, text)
    return text
