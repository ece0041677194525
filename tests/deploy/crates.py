"""Crates that are published have in them what they are compiled from: `cargo package` lists it, nothing outside is read, and cargo packs
them all. With --compile each is compiled from what was packed, too, as before it is published (a quarter of an hour).
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDES = re.compile(r'include_(?:str|bytes)!\(\s*"([^"]+)"')
failures = []


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], capture_output=True, check=True, text=True).stdout


def is_of_tests(path):
    return any(part in ("tests", "benches", "examples") for part in path.parts) or path.stem.endswith("tests")


packages = json.loads(cargo("metadata", "--format-version", "1", "--locked", "--no-deps"))["packages"]
published = [package for package in packages if package["publish"] != []]
names = {package["name"] for package in published}
for package in published:
    folder = pathlib.Path(package["manifest_path"]).parent
    listed = set(cargo("package", "--list", "--allow-dirty", "--locked", "--offline", "-p", package["name"]).split("\n"))
    for source in [pathlib.Path(name) for name in listed if name.endswith(".rs")]:
        if is_of_tests(source) or not (folder / source).is_file():
            continue
        for included in INCLUDES.findall((folder / source).read_text()):
            # Without following links: what is packed lies where the link is.
            path = pathlib.PurePosixPath(str(source.parent)).joinpath(included)
            parts = []
            for part in path.parts:
                parts = parts[:-1] if part == ".." and parts and parts[-1] != ".." else parts + [part]
            if "/".join(parts) not in listed:
                failures.append(f"{package['name']}: {source} includes {included}, which is not in the package")
    for dependency in package["dependencies"]:
        if dependency.get("path") and dependency["kind"] != "dev":
            if dependency["req"] == "*":
                failures.append(f"{package['name']} needs {dependency['name']} of no version")
            if dependency["name"] not in names:
                failures.append(f"{package['name']} needs {dependency['name']}, which is not published")
    for field in ["description", "license", "repository"]:
        if not package[field]:
            failures.append(f"{package['name']} has no {field}")
if len([name for name in cargo("package", "--list", "--allow-dirty", "--locked", "--offline", "-p", "pericore-catalog").split("\n") if name.endswith(".toml")]) < 100:
    failures.append("pericore-catalog is packed without its data")
with tempfile.TemporaryDirectory() as target:
    # Each needs the others of its own version, which no registry has yet: cargo resolves that for a workspace alone.
    others = [word for package in packages if package["publish"] == [] for word in ["--exclude", package["name"]]]
    compiled = "--compile" in sys.argv
    how = [] if compiled else ["--no-verify", "--offline"]
    pack = ["cargo", "package", "--workspace", *others, *how, "--allow-dirty", "--locked", "--quiet", "--target-dir", target]
    # Nothing is compiled a second time there, and what would serve that takes ten gigabytes.
    once = {**os.environ, "CARGO_INCREMENTAL": "0", "CARGO_PROFILE_DEV_DEBUG": "none"}
    packed = subprocess.run(pack, capture_output=True, text=True, env=once)
    crates = [path.name for path in pathlib.Path(target, "package").glob("*.crate")]
    if packed.returncode or len(crates) != len(published):
        failures.append(f"cargo package makes {len(crates)} crates of {len(published)}:\n{packed.stderr}")
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(bool(failures))
