"""The package as a whole."""

import inspect
import subprocess
import sys

import pericore


def test_the_version_is_that_of_the_program(program: str) -> None:
    words = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()
    assert pericore.__version__ == words[1]


def test_every_public_name_has_a_docstring() -> None:
    for name in pericore.__all__:
        thing = getattr(pericore, name)
        assert name == "__version__" or inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for method in vars(thing):
                assert method.startswith("_") or inspect.getdoc(getattr(thing, method)) or method in FIELDS, (name, method)


#: Fields of data classes, whose comments are their documentation.
FIELDS = {"output", "total", "done", "repeated", "failures"}


def test_a_script_of_ten_lines_has_its_figures() -> None:
    script = """
import pericore
from pericore import Machine
run = Machine("e5-2600").run("stream:requests=10k", metrics="memory", truth=True)
for row in run.report():
    if row["value"] is not None and row["unit_of_measure"] == "B/s":
        print(row["name"], round(row["value"] / 1e9, 1), "GB/s")
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.count("GB/s") >= 2, run.stdout
