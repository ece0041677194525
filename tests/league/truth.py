"""The truth of a workload, from the file that `pericore machine run --truth` writes: the ledger's, which no counter has gone through."""

import json

# Which events are lines that memory reads and writes.
LINES = {
    "e5-2600": ({("imc", "CAS_COUNT", "RD")}, {("imc", "CAS_COUNT", "WR")}),
    "emerald-rapids": ({("imc", "CAS_COUNT", "RD")}, {("imc", "CAS_COUNT", "WR")}),
    "nehalem": tuple(
        {("uncore", event, f"CH{channel}") for channel in range(3)} for event in ("DRAM_READ_CAS", "DRAM_WRITE_CAS")
    ),
}


def megabytes(text, family):
    """MB/s (10^6 bytes) read and written, over all sockets and channels."""
    sums = [0.0, 0.0]
    for line in text.splitlines():
        row = json.loads(line)
        name = (row["unit"], row["event"], row["subevent"])
        for direction, names in enumerate(LINES[family]):
            if name in names:
                sums[direction] += sum(row["per_second"]) * 64 / 1e6
    return tuple(sums)
