"""Results of the league, and the page that shows them."""

import datetime
import json
from pathlib import Path

from .tools import TOOLS

SIGNS = {"right": "✓", "said": "word", "refused": "refused", "wrong": "**wrong**", "crashed": "**crashed**", "out": "–"}
LEFT = " †"

HEAD = """# A league of PMU tools

Made by `tests/run league` on {date}; do not edit. Each tool is asked for memory bandwidth on the same software Xeons, and what it prints is compared with
what happens there: the rates that are emitted, times 64 bytes, or what the ledger of a workload has (`pericore machine run --truth`). No counter
is part of that truth, and neither is what `pericore stat` counts. Pericore is played by the same script as the others.

| sign | what it means |
|---|---|
| ✓ | both numbers (read, written) are within 3 % of the truth |
| word | a number is not, but the tool says that something is wrong: a message that it does not print on a sound machine, or a mark on the number |
| refused | no number, and a message or an exit status that says so |
| **wrong** | a number is not the truth, or is missing, without a word |
| **crashed** | ended by a signal, or not within a minute |
| – | out of the tool's stated scope, or of the way in that it is played through (below) |
| empty | not played in this run |
| † | counters run on after its end, or somebody else's were taken over |

What is wrong or crashed came three times in a row (in a guest: twice), since a host that is shared may hold a tool up. A channel that is fused off
carries no traffic; where registers cannot be read, the traffic behind them is part of the truth, and a number needs a word. An empty cell or a dash
of a channel is a word, and so is a count of channels that answer below those there may be. PCM and LIKWID are played behind the doors
(`docs/interop.md`), perf and the kernel's way in a guest. What registers hold at the end is looked at behind the doors alone. No tool promises to notice a
counter that never moves: such rows tell what its user would read.

"""


#: Why a tool that the league should have has no row.
PERFSPECT = """\
- Intel's PerfSpect: it cannot be built from a registry. Debian 12 has no package of it, its Go module is called `perfspect`, which no module proxy can
  serve, and it embeds twenty programs that its Makefile builds of sources from GitHub, kernel.org and SourceForge, perf among them (its `go.mod` and
  `tools/Makefile` in November 2026). It wants Go 1.23; Debian 12 has 1.19.
"""


class Results:
    def __init__(self, rows=()):
        self.rows = list(rows)

    @classmethod
    def load(cls, path):
        path = Path(path)
        return cls(json.loads(path.read_text()) if path.exists() else [])

    def save(self, path):
        if path:
            Path(path).write_text(json.dumps(self.rows, indent=1) + "\n")

    def find(self, tool, case):
        return next((row for row in self.rows if row["tool"] == tool and row["case"] == case), None)

    def out(self, tool, case, why):
        self.rows.append({"tool": tool.name, "case": case.name, "about": about(case), "outcome": "out", "why": why, "left": []})

    def add(self, tool, case, play, plays):
        verdict = play.verdict
        print(f"{tool.name:20} {case.name:22} {verdict.outcome:8} {verdict.why[:100]} {'; '.join(verdict.left)}", flush=True)
        self.rows.append(
            {
                "tool": tool.name,
                "case": case.name,
                "about": about(case),
                "outcome": verdict.outcome,
                "why": verdict.why,
                "left": verdict.left,
                "truth": plays.truth(case),
                "command": play.command,
                "status": play.status,
                "usual": sorted(plays.usual.get((tool.name, case.family), ())),
                "text": play.text if verdict.outcome in ("wrong", "crashed") or verdict.left else "",
            }
        )

    def write(self, page, logs, versions):
        date = datetime.date.today().isoformat()
        page.write_text(HEAD.format(date=date) + self.summary(versions) + self.table() + self.false_numbers(date) + self.scope())
        logs.mkdir(parents=True, exist_ok=True)
        for tool in TOOLS:
            self.log(logs / f"{plain(tool.name)}.log", tool.name, versions.get(tool.name, ""), date)

    def of(self, tool):
        return [row for row in self.rows if row["tool"] == tool]

    def summary(self, versions):
        text = "## In numbers\n\n| tool | version | cases | ✓ | word | refused | wrong | crashed | † |\n|---|---|---|---|---|---|---|---|---|\n"
        for tool in TOOLS:
            rows = [row for row in self.of(tool.name) if row["outcome"] != "out"]
            counts = [sum(row["outcome"] == outcome for row in rows) for outcome in ("right", "said", "refused", "wrong", "crashed")]
            left = sum(bool(row["left"]) for row in rows)
            version = versions.get(tool.name, "this repository's")
            text += f"| {tool.name} ({tool.what}) | {version} | {len(rows)} | {' | '.join(map(str, [*counts, left]))} |\n"
        return text + "\n"

    def table(self):
        text = f"## Cases\n\n| case | | {' | '.join(tool.name for tool in TOOLS)} |\n|---|---|{'---|' * len(TOOLS)}\n"
        for name, what in dict.fromkeys((row["case"], row["about"]) for row in self.rows):
            cells = []
            for tool in TOOLS:
                row = self.find(tool.name, name)
                cells.append(SIGNS[row["outcome"]] + (LEFT if row["left"] else "") if row else "")
            text += f"| {name} | {what} | {' | '.join(cells)} |\n"
        return text + "\n"

    def false_numbers(self, date):
        text = "## False numbers and what was left behind\n\nThe exact command and all that was printed stand in the logs, by the case's name.\n\n"
        for tool in TOOLS:
            rows = [row for row in self.of(tool.name) if row["outcome"] in ("wrong", "crashed") or row["left"]]
            if not rows:
                continue
            text += f"### {tool.name}: [log](../tests/logs/league/{plain(tool.name)}.log)\n\n"
            for row in rows:
                what = [f"{row['outcome']}: {row['why']}"] if row["outcome"] in ("wrong", "crashed") else []
                text += f"- {row['case']}: {'; '.join(what + row['left'])}\n"
            text += "\n"
        return text

    def scope(self):
        text = "## Not played\n\n"
        reasons = {}
        for row in self.rows:
            if row["outcome"] == "out":
                reasons.setdefault((row["tool"], row["why"]), []).append(row["case"])
        for (tool, why), names in reasons.items():
            text += f"- {tool}, {len(names)} cases: {why}\n"
        return text + PERFSPECT

    def log(self, path, tool, version, date):
        rows = [row for row in self.of(tool) if row["outcome"] in ("wrong", "crashed") or row["left"]]
        text = f"{tool} {version}, {date}\n"
        for row in rows:
            truth = ", ".join(f"{number:.1f}" for number in row["truth"])
            said = "\n".join(line.rstrip() for line in row["text"].strip().splitlines())
            text += (
                f"\n=== {row['case']}: {row['about']}\n$ {row['command']}\ntruth (MB/s read, written): {truth}\n"
                f"outcome: {row['outcome']}: {row['why']} {'; '.join(row['left'])}\nstatus: {row['status']}\n{said}\n"
            )
        path.write_text(text)


def plain(name):
    return name.lower().replace(", ", "-").replace(" ", "-")


def about(case):
    """The machine and what is special about it, for a reader."""
    return f"{case.family}, {case.about}"
