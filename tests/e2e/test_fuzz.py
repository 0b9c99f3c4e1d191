"""Whatever a client makes of the API document, the server stays up and never breaks down (no 5xx)."""

import re
import subprocess
import sys
from pathlib import Path

import httpx

EXAMPLES = "4"


def test_no_request_breaks_the_server(server, tmp_path):
    program = str(Path(sys.executable).with_name("schemathesis"))
    done = subprocess.run(
        [
            *(program, "run", f"{server}/api/openapi.json", "--checks", "not_a_server_error,status_code_conformance"),
            *("--max-examples", EXAMPLES, "--seed", "1", "--generation-database", "none", "--phases", "fuzzing"),
            # turns of every kind are asked elsewhere; here they would take most of the time
            *("--exclude-path-regex", "^/ask/(stream_events|stream_log|batch)|_schema$|^/ask/c/|config_hash"),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=170,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    counted = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    assert counted is not None, done.stdout
    generated, passed = counted.groups()
    assert generated == passed
    assert httpx.get(f"{server}/healthz").status_code == 200
