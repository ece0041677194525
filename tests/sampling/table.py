"""How sampled numbers compare with complete runs, as text."""

# What is wanted of all cases together: how many lie in their interval, and half-widths of large counts.
INSIDE, MEDIAN, MOST, LARGE = 0.95, 0.03, 0.10, 100_000


def line(result):
    case, seconds = result["case"], result["seconds"]
    judged, halves = judge(result["numbers"])
    inside = sum(judged)
    kind = "workload" if "workload" in case else "own" if case.get("own") else "program"
    text = f"{case['name']:34} {kind:8} {result['share']:>9}  {inside:3} of {len(judged):3} inside"
    if halves:
        text += f"  half-widths of {len(halves):3}: {quantile(halves, 0.5):6.2%} median, {quantile(halves, 0.9):6.2%} at the 90th"
    text += f"  {seconds['whole']:6.1f} s whole, {seconds['sampled']:6.1f} s sampled"
    if result["outside"]:
        for name, true, number, low, high in result["numbers"]:
            if not low <= true <= high:
                text += f"\n    {name}: {true:.0f} is not in {low:.0f} to {high:.0f} ({number:.0f})"
    return text


def text(results):
    judged, halves = judge([number for result in results for number in result["numbers"]])
    inside = sum(judged) / max(len(judged), 1)
    lines = [f"\n{len(judged)} numbers of {len(results)} cases: {inside:.1%} inside of their intervals (at least {INSIDE:.0%} are to be)"]
    if halves:
        lines.append(
            f"half-widths of {len(halves)} counts above {LARGE}: {quantile(halves, 0.5):.2%} on the median, {quantile(halves, 0.9):.2%} at the 90th "
            f"percentile (at most {MEDIAN:.0%} and {MOST:.0%} are to be)"
        )
    return "\n".join(lines) + "\n"


def are_good(results):
    judged, halves = judge([number for result in results for number in result["numbers"]])
    good = sum(judged) >= INSIDE * len(judged)
    return good and (not halves or (quantile(halves, 0.5) <= MEDIAN and quantile(halves, 0.9) <= MOST))


def judge(numbers):
    """Whether each true number lies in its interval, and half-widths of the large ones as shares."""
    # Numbers of an event that does not occur, and is said not to, tell nothing.
    told = [one for one in numbers if one[1] or one[2]]
    judged = [low <= true <= high for _, true, _, low, high in told]
    halves = [(high - number) / number for _, true, number, low, high in told if true > LARGE and number]
    return judged, sorted(halves)


def quantile(ordered, share):
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
