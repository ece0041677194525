"""What a tool has left behind: by the values that it wrote last, in the log of all accesses.

Addresses and bits are the documents': the E5-2600 guide's register tables of C-Box, PCU, U-Box and memory channel (sections 2.2.1, 2.3.3, 2.5.5,
2.6.3), SDM 18.8.2.2 (Nehalem), Table 1-12 of the Emerald Rapids guide (memory channels, whose registers lie at the same place in each 32 KiB).
"""

import re

WRITE = re.compile(r"^\s*[0-9.]+\s+(?:wrmsr cpu\d+ (0x[0-9a-f]+)|pciwr (\S+)|memwr (0x[0-9a-f]+)\.\d)\s+<- (0x[0-9a-f]+)(?! +fault)\b", re.M)

ENABLE = 1 << 22
E5_MSRS = {0xC08, 0xC10, 0xC11, *range(0xC30, 0xC34), *(0xD10 + 0x20 * slice_ + n for slice_ in range(8) for n in range(4))}
E5_CHANNEL = re.compile(r"0000:[7f]f:10\.[0145]\+0x(d8|dc|e0|e4|f0)\.4")
NEHALEM_MSRS = set(range(0x3C0, 0x3C8))
MESH_CONTROLS = {0x2840, 0x2844, 0x2848, 0x284C}


def _controls(log, family):
    """Every write of a counter's control: address and value, and whether a counter with that value runs."""
    for msr, function, memory, value in WRITE.findall(log):
        value = int(value, 16)
        if msr and int(msr, 16) in (E5_MSRS if family == "e5-2600" else NEHALEM_MSRS if family == "nehalem" else ()):
            yield msr, value, bool(value & ENABLE)
        elif function and family == "e5-2600" and E5_CHANNEL.match(function):
            yield function, value, bool(value & ENABLE)
        elif memory and family == "emerald-rapids" and int(memory, 16) & 0x7FFF in MESH_CONTROLS:
            # These count as soon as an event is selected.
            yield memory, value, bool(value & 0xFF)


def left_running(log, family):
    """Addresses of controls whose last value has a counter run."""
    last = {address: runs for address, _, runs in _controls(log, family)}
    if family == "nehalem":
        # These need their enable in the global control, too (SDM, MSR_UNCORE_PERF_GLOBAL_CTRL); after reset there is none.
        enables = [int(value, 16) for msr, _, _, value in WRITE.findall(log) if msr == "0x391"] or [0]
        last = {address: runs and enables[-1] >> (int(address, 16) - 0x3C0) & 1 for address, runs in last.items()}
    return sorted(address for address, runs in last.items() if runs)


def taken_over(log, family, taken):
    """Controls of somebody else that were given another value: `taken` has the numbers of the counters, which are the same in each channel."""
    places = {"e5-2600": lambda n: f"+{0xD8 + 4 * n:#x}.4", "nehalem": lambda n: f"{0x3C0 + n:#x}"}
    if family == "emerald-rapids":
        ours = {0x2840 + 4 * n for n in taken}
        found = {address for address, value, _ in _controls(log, family) if int(address, 16) & 0x7FFF in ours}
    else:
        ends = tuple(places[family](n) for n in taken)
        found = {address for address, value, _ in _controls(log, family) if ends and address.endswith(ends)}
    values = {}
    for address, value, _ in _controls(log, family):
        if address in found:
            values.setdefault(address, set()).add(value)
    return sorted(address for address, written in values.items() if written != {TAKEN[family]})


# What somebody else counts: reads of a channel (E5-2600: event 0x04, umask 0x03; Nehalem: 0x2C, 0x07; Emerald Rapids: 0x05, 0xCF).
TAKEN = {"e5-2600": 0x400304, "nehalem": 0x40072C, "emerald-rapids": 0xCF05}


def presets(case):
    """What `pericore machine poke` is told for it."""
    unit, count = ("uncore", 1) if case.family == "nehalem" else ("imc", {"e5-2600": 4, "emerald-rapids": 8}[case.family])
    words = list(case.registers)
    for instance in range(count):
        words += [f"{unit}{instance}/ctl{number}={TAKEN[case.family]:#x}" for number in case.taken]
        words += [f"{unit}{instance}/ctr{number}=0xfffffffffff0" for number in case.wraps]
    return words
