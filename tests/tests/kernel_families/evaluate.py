#!/usr/bin/env python3
"""Evaluates metrics by Intel's formulas, apart from everything else here.

    evaluate.py FILE < FACTS

FILE is one of Intel's metric files, or a table of catalog/kernel/metrics. FACTS is JSON: `counts` by event, of all instances, with what
modifies it in the formula; `instances` of the unit of each event; `constants`; `seconds`. Prints JSON: for each metric its `value`, or the
`reason` why it has none. Without facts (null): what it is measured in, `unit`, and its `events`.
"""

import json
import re
import sys


def rows(path):
    """Name, unit of measure, formula, and the events and constants by their letters."""
    text = open(path, encoding="utf-8").read()
    if path.endswith(".json"):
        for row in json.loads(text)["Metrics"]:
            events = {of["Alias"]: of["Name"] for of in row["Events"]}
            constants = {of["Alias"]: of["Name"] for of in row["Constants"]}
            yield row["MetricName"], row["UnitOfMeasure"], row["Formula"], events, constants
        return
    for line in text.splitlines():
        if "|" in line:
            name, unit, formula, *letters = (part.strip() for part in line.split("|"))
            events, constants = (dict(word.split("=", 1) for word in of.split()) for of in letters)
            yield name, unit, formula, events, constants


# Events that no counter of the kernel's PMUs gives.
NOT_COUNTED = {
    ":retire_latency": "needs latencies that sampling alone gives",
    "^FREERUN_": "needs the energy counters",
    ":percore": "needs counts of whole cores",
}


def value(formula, events, constants, facts):
    if not events:
        return {"reason": "counts nothing"}
    for pattern, reason in NOT_COUNTED.items():
        if any(re.search(pattern, event) for event in events.values()):
            return {"reason": reason}
    if re.search(r"\[\d+\]", formula):
        return {"reason": "takes the count of one socket"}
    known = {"min": min, "max": max, "DURATIONTIMEINSECONDS": facts["seconds"], "durationtimeinmilliseconds": facts["seconds"] * 1000}
    for letter, name in events.items():
        bare = name.replace(":one_unit", "")
        if bare not in facts["counts"]:
            return {"missing": bare}
        instances = facts["instances"][bare] if ":one_unit" in name else 1
        known[letter] = facts["counts"][bare] / instances
    for letter, name in constants.items():
        known[letter] = known["durationtimeinmilliseconds"] if name == "DURATIONTIMEINMILLISECONDS" else facts["constants"][name]
    # The files write >= as two words.
    formula = re.sub(r"([<>=!]) =", r"\1=", formula)
    try:
        return {"value": eval(formula, {"__builtins__": {}}, known)}  # noqa: S307
    except ZeroDivisionError:
        return {"undefined": True}


def main():
    facts = json.load(sys.stdin)
    found = {}
    for name, unit, formula, events, constants in rows(sys.argv[1]):
        about = {"unit": unit, "events": list(events.values())}
        found[name] = value(formula, events, constants, facts) if facts else about
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
