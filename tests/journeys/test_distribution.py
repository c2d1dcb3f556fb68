"""What is built is what runs: the wheel holds all that the demonstration needs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2

ROOT = Path(__file__).parent.parent.parent


def test_the_wheel_runs_the_demonstration_and_ends_when_told(tmp_path: Path) -> None:
    run = {"check": True, "capture_output": True, "text": True, "stdin": subprocess.DEVNULL}
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)], **run
    )
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site)]
    subprocess.run([*pip, str(wheel)], **run)
    program = "import postroom, sys; print(postroom.__file__, flush=True); from postroom.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "demo", "--port", "0", "--json"],
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(str(site))
        line = json.loads(process.stdout.readline())
        assert set(line) == {"url", "mcp_url", "tokens", "mailboxes"}
        headers = {"Authorization": f"Bearer {line['tokens']['read']}"}
        response = httpx2.get(f"{line['url']}/mailboxes/work/messages", headers=headers)
        assert len(response.json()["messages"]) >= 12
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 0, errors
    assert "psr_a_" not in errors
