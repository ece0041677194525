"""Crates that are published have in them what they are compiled from: `cargo package` lists it, and nothing outside is read."""

import json
import pathlib
import re
import subprocess
import sys

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
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(bool(failures))
