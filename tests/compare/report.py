"""The report: a line for each cause, with an example to run again."""

from .causes import Cause, Causes
from .comparison import Comparison
from .meant import Meant

# Of a text or a list of names, so much is shown.
WIDTH = 160
NAMES = 4


def lines(result: Comparison, meant: list[Meant], part: str) -> list[str]:
    commands = sum(len(configuration.commands) for configuration in result.compared)
    out = [f"{len(result.compared)} configurations of {part}, {commands} commands on each side"]
    if result.left:
        out.append(f"{result.left} configurations were not run: time was up. The same command goes on from there.")
    out += section("differences that nobody means", result.causes)
    out += section("differences that are meant", result.meant)
    unused = [one for one in meant if not one.matched]
    for one in unused:
        scope = "" if part == "all" and not result.left else " in this part"
        out.append(f"meant, but does not occur{scope}: {one} ({one.reason})")
    if not result.causes.found:
        out.append("no difference" if not result.meant.found else "no difference but those that are meant")
    return out


def section(title: str, causes: Causes) -> list[str]:
    if not causes.found:
        return []
    out = ["", f"{title}: {len(causes.found)} causes"]
    for cause in causes.sorted():
        out += described(cause)
    return [*out, ""]


def described(cause: Cause) -> list[str]:
    one = cause.example
    what = " · ".join(word for word in (one.output, one.place, one.field, one.kind, one.shape) if word)
    subjects = sorted(subject for subject in cause.subjects if subject)
    out = [f"  {what}", f"      {count(cause)}; {', '.join(sorted(cause.families))}{named(subjects)}"]
    out.append(f"      example: {cut(one.before) or '(nothing)'}  ->  {cut(one.after) or '(nothing)'}")
    about = f"{one.subject} in " if one.subject else ""
    out.append(f"      {about}{one.configuration}: {cut(one.line)}")
    return out


def count(cause: Cause) -> str:
    times = "once" if cause.count == 1 else f"{cause.count} times"
    places = len(cause.configurations)
    return f"{times} in {places} configuration{'s' if places > 1 else ''}"


def named(subjects: list[str]) -> str:
    if not subjects:
        return ""
    more = f" and {len(subjects) - NAMES} more" if len(subjects) > NAMES else ""
    return f": {', '.join(subjects[:NAMES])}{more}"


def cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
