"""What two lines have in common when one cause changed both: the words without the numbers and names."""

import re

NAME = re.compile(r"\b[A-Z][A-Za-z0-9]*_[A-Za-z0-9_]*(?:\.[A-Za-z0-9_.]+)?|\b[A-Z][A-Z0-9]{3,}(?:\.[A-Z0-9_.]+)?\b")
NUMBER = re.compile(r"0x[0-9a-fA-F]+|[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
LONGEST = 100


def masked(line: str) -> str:
    return " ".join(NUMBER.sub("#", NAME.sub("NAME", line)).split())


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def changed(before: str, after: str) -> tuple[str, str]:
    """The kind of change from one line to the other, and its signature: the words that changed, or the line that numbers changed in."""
    older, newer = before.split(), after.split()
    if older == newer:
        return "spacing", ""
    start = 0
    while start < min(len(older), len(newer)) and older[start] == newer[start]:
        start += 1
    end = 0
    while end < min(len(older), len(newer)) - start and older[-1 - end] == newer[-1 - end]:
        end += 1
    middle = [masked(" ".join(words[start : len(words) - end])) for words in (older, newer)]
    if middle[0] == middle[1]:
        return "number" if NUMBER.search(" ".join(newer[start : len(newer) - end])) else "name", shortened(masked(after))
    return "text", shortened(f"{middle[0] or 'nothing'} -> {middle[1] or 'nothing'}")
