"""documents.py PAGE...: carries out the Python of pages, as it stands there but for sizes, and for the block that needs a Xeon.

Blocks of a page share their names, as they would for somebody who types them in one after the other.
"""

import re
import sys
from pathlib import Path

#: What takes long, and what a test takes in its place.
SMALLER = {
    "8592+\", cores=8": "e5-2600\", cores=2",
    "stream:requests=100k": "stream:requests=2k",
    'ray.init("auto")': 'ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)',
    '"cores.toml"': f'"{Path.cwd() / "cores.toml"}"',
}
SWEEP = """
metrics = ["memory"]
[[grid]]
machines = ["e5-2600"]
workloads = ["stream:requests=500"]
machine.cores = [1, 2]
"""

Path("cores.toml").write_text(SWEEP)
for page in sys.argv[1:]:
    blocks = re.findall(r"^```python\n(.*?)^```$", Path(page).read_text(), re.MULTILINE | re.DOTALL)
    ran, names = 0, {}
    for block in blocks:
        # Counts on this machine: tests/test_session.py does that on a software machine that stands in for it.
        if "Session(" in block:
            continue
        for large, small in SMALLER.items():
            block = block.replace(large, small)
        exec(compile(block, page, "exec"), names)
        ran += 1
    assert ran, f"{page} has no Python that can be carried out"
    print(f"{page}: {ran} of {len(blocks)} blocks")
