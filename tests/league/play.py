"""Plays a case with a tool: behind the doors, or in the guest, where all tools of the kernel's driver share a boot."""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import registers, truth
from .judge import Verdict, judge, worries

# A result that is wrong may be the host's doing, which is shared: it counts if it comes as often.
TRIES = 3
SECONDS = 60
GUEST_SECONDS = 280

# What counts at the same time, and goes on until the tool has come to its end.
BESIDE = {
    "pcm": "pcm-memory 0.2 -i=100 -csv",
    "likwid": "likwid-perfctr -M 0 -f -O -C 0 -g CAS_COUNT_RD:MBOX0C0,CAS_COUNT_WR:MBOX1C1 sleep 30",
    "pericore": 'XDG_STATE_HOME="$FOLDER/other" pericore stat -I 200 --timeout 30000 -M MEM_READ_BANDWIDTH',
    "perf": "perf stat -a -I 200 -e uncore_imc_0/event=0x4,umask=0x3/ sleep 100",
}


@dataclass
class Play:
    """What a tool printed, with the command that anybody can repeat."""

    command: str
    text: str
    # None: it did not end.
    status: int | None
    verdict: Verdict | None = None


class Plays:
    def __init__(self, pericore):
        self.pericore = str(Path(pericore).resolve())
        self.truths = {}
        self.usual = {}

    def run(self, words, folder, seconds):
        environment = dict(os.environ, PATH=f"{Path(self.pericore).parent}:{os.environ['PATH']}")
        environment.update(FOLDER=str(folder), XDG_STATE_HOME=str(folder), LC_ALL="C", NO_COLOR="1")
        # Whoever is killed here has children: they go with their process group.
        process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            output, _ = process.communicate(timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.terminate()
            output, _ = process.communicate()
            status = None
        return output.decode(errors="replace"), status

    def machine(self, case, folder):
        """The name of the machine: a snapshot's file, where registers hold something before the tool comes."""
        words = registers.presets(case)
        if not words:
            return case.machine
        file = Path(folder) / "before.machine"
        poke = [self.pericore, "machine", "poke", "--machine", case.machine, *words, "-o", str(file)]
        subprocess.run(poke, check=True, capture_output=True)
        return str(file)

    def truth(self, case):
        """MB/s read and written: by hand, or what the ledger has of the workload."""
        known = case.by_hand()
        if known is None:
            key = (case.machine, case.workload)
            if key not in self.truths:
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder) / "truth"
                    words = [self.pericore, "machine", "run", "--machine", case.machine, *case.traffic(), "--truth", str(file), "--", "true"]
                    subprocess.run(words, check=True, capture_output=True)
                    self.truths[key] = truth.megabytes(file.read_text(), case.family)
            known = self.truths[key]
        return known

    def verdict(self, tool, case, text, status, log):
        known = self.truth(case)
        verdict = judge(tool.read(text, case), known, text, status, self.usual.get((tool.name, case.family), set()))
        if log:
            running = registers.left_running(log, case.family)
            # Registers that somebody else had running before may run on, and what reads as all ones takes no writes.
            if running and not case.taken and not case.beside and "all-ones" not in case.machine:
                verdict.left.append(f"leaves {len(running)} counters running ({running[0]})")
            if taken := registers.taken_over(log, case.family, case.taken):
                verdict.left.append(f"takes {len(taken)} counters that somebody else has running ({taken[0]})")
        return verdict

    def behind_doors(self, tool, case):
        """The first result that is not wrong, or the last one."""
        for _ in range(TRIES):
            play = self.once(tool, case)
            if play.verdict.outcome not in ("wrong", "crashed"):
                break
        return play

    def once(self, tool, case):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            script = tool.command(case)
            if case.beside:
                script = f"{BESIDE[case.beside]} >/dev/null 2>&1 & other=$!; sleep 1; {script}; status=$?; kill $other; exit $status"
            front = ["machine", "run", "--machine", self.machine(case, folder), *case.traffic()]
            words = [self.pericore, *front, "--timeout", str(SECONDS), "--log", str(log), "--", "sh", "-c", script]
            text, status = self.run(words, folder, 2 * SECONDS)
            if f"after {SECONDS} s" in text:
                status = None
            seen = log.read_text(errors="replace") if log.exists() and not case.beside else ""
            command = " ".join(["pericore", *front, "--", *(["sh -c", repr(script)] if set("&;=$") & set(script) else [script])])
            play = Play(self.shown(case, command, folder), text, status)
            play.verdict = self.verdict(tool, case, text, status, seen)
            return play

    def in_guest(self, tools, case):
        """A boot with all tools one after the other, by the tools' names."""
        for _ in range(2):
            plays = self.boot(tools, case)
            if all(play.verdict.outcome not in ("wrong", "crashed") for play in plays.values()):
                break
        return plays

    def boot(self, tools, case):
        with tempfile.TemporaryDirectory() as folder:
            parts = [case.guest_before] if case.guest_before else []
            beside = BESIDE.get(case.beside)
            for tool in tools:
                script = tool.command(case)
                if beside:
                    script = f"{beside} >/dev/null 2>&1 & other=$!; sleep 1; {script}; status=$?; kill $other; (exit $status)"
                parts.append(f"echo '<<< {tool.name}'; ( {script} ) 2>&1; echo \">>> $?\"")
            front = ["machine", "boot", "--machine", self.machine(case, folder), *case.traffic()]
            if case.append:
                front += ["--append", case.append]
            if "online" in case.guest_before:
                front.append("--all-cpus")
            words = [self.pericore, *front, "--timeout", str(GUEST_SECONDS), "--", "sh", "-c", "\n".join(parts)]
            text, _ = self.run(words, folder, GUEST_SECONDS + 120)
            plays = {}
            for tool in tools:
                found = re.search(rf"^<<< {re.escape(tool.name)}$(.*?)^>>> (\d+)$", text, re.M | re.S)
                shown, status = (found[1], int(found[2])) if found else (text, None)
                before = f"{case.guest_before}; " if case.guest_before else ""
                command = " ".join(["pericore", *front, "--", "sh -c", repr(before + tool.command(case))])
                play = Play(self.shown(case, command, folder), shown.replace("\r", ""), status)
                play.verdict = self.verdict(tool, case, play.text, status, "")
                plays[tool.name] = play
            return plays

    def shown(self, case, command, folder):
        """The command as anybody can repeat it: a machine's file is made first."""
        file = f"{folder}/before.machine"
        if file not in command:
            return command
        words = registers.presets(case)
        return f"pericore machine poke --machine {case.machine} {' '.join(words)} -o before.machine; {command.replace(file, 'before.machine')}"

    def learn(self, tool, case, play):
        """What a tool worries about on a sound machine of the family."""
        self.usual[(tool.name, case.family)] = worries(play.text)


def versions(tools):
    """The packages' versions."""
    found = {}
    for tool in tools:
        if tool.package and shutil.which("dpkg-query"):
            asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", tool.package], capture_output=True, text=True)
            found[tool.name] = asked.stdout.strip() or "not installed"
    return found
