"""What the tests share: the program, as it is built from the same sources."""

import json
import os
import subprocess
from typing import Any

import pytest


@pytest.fixture(scope="session")
def program() -> str:
    """The path of the program; the package's results are compared with its."""
    return os.environ["PERICORE"]


def json_lines(program: str, *arguments: str) -> list[dict[str, Any]]:
    """The lines of JSON that the program prints on standard output or error."""
    run = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    lines = [line for line in (run.stdout + run.stderr).splitlines() if line.startswith("{")]
    return [json.loads(line) for line in lines]
