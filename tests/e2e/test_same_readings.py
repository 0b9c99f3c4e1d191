"""The same question is understood in the same way in every process."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.print_readings import all_readings

ROOT = Path(__file__).parents[2]


def test_readings_do_not_depend_on_the_seed_of_hashes(tmp_path: Path) -> None:
    """The seed of this process is a random one."""
    command = [sys.executable, "-m", "tests.support.print_readings", str(tmp_path / "other")]
    environment = {**os.environ, "PYTHONHASHSEED": "4242"}
    other = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    one = list(all_readings(tmp_path / "one"))
    found, errors = other.communicate()
    assert other.returncode == 0, errors
    assert len(one) >= 40
    assert one == found.splitlines()
