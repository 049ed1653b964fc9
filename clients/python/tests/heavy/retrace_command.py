"""Runs `retrace` on the data directory of the server that a test records to."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(__file__).parents[4] / "apps" / "cli" / "bin" / "retrace.mjs"


def run_retrace(*arguments: str) -> dict[str, Any]:
    """Return what the command prints as JSON; skip the test where no server is there."""
    directory = os.environ.get("RETRACE_TEST_DATA_DIR")
    if not directory:
        pytest.skip("skipped, because RETRACE_TEST_DATA_DIR names no data directory of a running server")
    command = ["node", str(COMMAND), *arguments, "--json", "--data-dir", directory]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
