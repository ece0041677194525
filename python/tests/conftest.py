"""What the tests share: the program, as it is built from the same sources."""

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def program() -> str:
    """The path of the program; the package's results are compared with its."""
    return os.environ["PERICORE"]


@pytest.fixture(scope="session")
def json_lines(program: str) -> Callable[..., list[dict[str, Any]]]:
    """A function that gives the lines of JSON that the program prints on standard output or error."""

    def run(*arguments: str) -> list[dict[str, Any]]:
        run = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        lines = [line for line in (run.stdout + run.stderr).splitlines() if line.startswith("{")]
        return [json.loads(line) for line in lines]

    return run
