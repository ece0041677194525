#!/usr/bin/env python3
"""Evaluates metrics by Intel's formulas, apart from everything else here.

    evaluate.py FILE < FACTS

FILE is one of Intel's metric files, or a table of catalog/kernel/metrics. FACTS is JSON: `counts` by event, of all instances; `instances` of
the unit of each event; `constants`; `seconds`. Prints JSON: for each metric its `value`, or the `reason` why it has none.
"""

import json
import re
import sys


def rows(path):
    """Name, formula, and the events and constants by their letters."""
    text = open(path, encoding="utf-8").read()
    if path.endswith(".json"):
        for row in json.loads(text)["Metrics"]:
            events = {of["Alias"]: of["Name"] for of in row["Events"]}
            yield row["MetricName"], row["Formula"], events, {of["Alias"]: of["Name"] for of in row["Constants"]}
        return
    for line in text.splitlines():
        if "|" in line:
            name, _, formula, letters = (part.strip() for part in line.split("|"))
            pairs = dict(word.split("=", 1) for word in letters.split())
            events = {letter: of for letter, of in pairs.items() if of.startswith("UNC_")}
            yield name, formula, events, {letter: of for letter, of in pairs.items() if letter not in events}


def value(formula, events, constants, facts):
    if not events:
        return {"reason": "counts nothing"}
    if not all(event.startswith("UNC_") for event in events.values()):
        return {"reason": "needs events of the cores"}
    if re.search(r"\[\d+\]", formula):
        return {"reason": "takes the count of one socket"}
    known = {"DURATIONTIMEINSECONDS": facts["seconds"], "durationtimeinmilliseconds": facts["seconds"] * 1000}
    for letter, name in events.items():
        bare = name.replace(":one_unit", "")
        if bare not in facts["counts"]:
            return {"missing": bare}
        instances = facts["instances"][bare] if ":one_unit" in name else 1
        known[letter] = facts["counts"][bare] / instances
    for letter, name in constants.items():
        known[letter] = known["durationtimeinmilliseconds"] if name == "DURATIONTIMEINMILLISECONDS" else facts["constants"][name]
    return {"value": eval(formula, {"__builtins__": {}}, known)}  # noqa: S307


def main():
    facts = json.load(sys.stdin)
    found = {name: value(formula, events, constants, facts) for name, formula, events, constants in rows(sys.argv[1])}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
