"""recipe.py PERICORE [--packages]: the recipe of docs/counting/ci.md as a workflow would run it.

A repository with a tool (tests/deploy/sample) is made, cloned into an empty folder, and the steps of its workflow are carried out there: those
of deploy/action/action.yml are what that file says, with its inputs and conditions. The tool passes; with a wrong umask it does not. With
--packages, PCM's and LIKWID's programs of Debian go through the same three steps.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests/deploy/sample"
ACTION = ROOT / "deploy/action"
STEPS = ["Register accesses", "Bandwidth against the truth", "Broken machines"]
TURNS = 5
#: What the tools of Debian's packages are asked, with what the third step makes of each: LIKWID 5.2.2 prints 2^48 - 1 reads of a channel whose
#: registers read as all ones.
PACKAGES = {
    "pcm-memory": {
        "tool": "pcm-memory 1 -i=2",
        "pattern": r"System Read Throughput\(MB\/s\): *([0-9.]+)",
        "broken fails": False,
    },
    "likwid-perfctr": {
        "tool": "likwid-perfctr -f -M 0 -C 0 -g MEM -S 1s",
        "pattern": r"Memory read bandwidth \[MBytes\/s\] \| *([0-9.]+)",
        "broken fails": True,
    },
}


def value(text, inputs):
    """An expression of the few forms that the action has."""
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


def holds(condition, inputs):
    name, operator, wanted = re.fullmatch(r"inputs\.(\w+) (==|!=) '(\w*)'", condition).groups()
    return (inputs[name] == wanted) == (operator == "==")


def bash(script, folder, environment):
    """As runners of GitHub start a step of `shell: bash`."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)


def run_action(folder, pericore, given):
    """The steps of the action that apply: their names, statuses and outputs. A runner would leave out what follows a step that failed."""
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    inputs = {name: text.get("default", "") for name, text in action["inputs"].items()} | {"pericore": pericore} | given
    assert action["runs"]["using"] == "composite" and [step["name"] for step in action["runs"]["steps"]] == STEPS
    results = {}
    for step in action["runs"]["steps"]:
        if holds(step["if"], inputs):
            environment = {name: value(text, inputs) for name, text in step["env"].items()}
            done = bash(step["run"], folder, environment | {"GITHUB_ACTION_PATH": str(ACTION)})
            results[step["name"]] = (done.returncode, done.stdout + done.stderr)
    return results


def run_workflow(clone, pericore):
    """The workflow of a clone."""
    jobs = yaml.safe_load((clone / ".github/workflows/ci.yml").read_text())["jobs"]
    results = {}
    for step in jobs["software-xeon"]["steps"]:
        if "run" in step:
            done = bash(step["run"], clone, {})
            expect(done.returncode == 0, "the tool is built", done.stdout + done.stderr)
        elif "/deploy/action@" in step["uses"]:
            results = run_action(clone, pericore, step["with"])
    return results


def git(folder, *words):
    # Nothing of whoever runs this: neither a name nor hooks.
    identity = ["-c", "user.name=sample", "-c", "user.email=sample@example.org", "-c", "core.hooksPath=/dev/null"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def expect(holds, what, printed):
    if not holds:
        raise SystemExit(f"recipe: not so: {what}\n{printed}")


def statuses(results):
    return [results[name][0] for name in STEPS]


def played(run, wanted):
    """A run whose statuses are these. A busy host can hold a tool up between its clock and its counters: what differs is played again."""
    for _ in range(TURNS):
        results = run()
        if statuses(results) == wanted:
            return results
    raise SystemExit(f"recipe: the steps should end with {wanted}, and did not in {TURNS} runs:\n{results}")


def sample(work, pericore):
    upstream, clone, wrong = (work / name for name in ["upstream", "clone", "wrong"])
    subprocess.run(["cp", "-r", SAMPLE, upstream], check=True)
    git(upstream, "init", "-q")
    git(upstream, "add", ".")
    git(upstream, "commit", "-q", "-m", "The tool")
    git(work, "clone", "-q", upstream, clone)
    played(lambda: run_workflow(clone, pericore), [0, 0, 0])
    # Writes in the place of reads: 0x0C is CAS_COUNT's umask of these.
    git(work, "clone", "-q", upstream, wrong)
    source = wrong / "membw.c"
    source.write_text(source.read_text().replace("READS = 0x400304", "READS = 0x400c04"))
    results = played(lambda: run_workflow(wrong, pericore), [1, 1, 0])
    expect("0x400304, but found" in results[STEPS[0]][1], "the first step names it", results)
    print("the recipe: a clone of the sample passes three steps, and with a wrong umask it fails two")


def package(work, pericore, name, asked):
    folder = work / name
    folder.mkdir()
    given = {"tool": asked["tool"], "machine": "e5-2600:sockets=1", "accesses": "pinned", "pattern": asked["pattern"]}
    first = run_action(folder, pericore, given | {"pattern": "", "broken": "false"})
    expect(first[STEPS[0]][0] == 1 and (folder / "pinned").exists(), f"{name}: the first run writes its accesses, and fails", first)
    results = played(lambda: run_action(folder, pericore, given), [0, 0, int(asked["broken fails"])])
    bandwidth = results[STEPS[1]][1].strip().splitlines()[-1]
    print(f"the recipe: {name}: accesses pinned; {bandwidth}; on broken machines: {results[STEPS[2]][1].strip()}".replace("\n", "; "))


def main(pericore, *options):
    pericore = str(pathlib.Path(pericore).resolve())
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        sample(work, pericore)
        if "--packages" in options:
            for name, asked in PACKAGES.items():
                package(work, pericore, name, asked)


main(*sys.argv[1:])
