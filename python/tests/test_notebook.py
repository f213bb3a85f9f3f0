"""The example notebook runs, and its pictures show what it says."""

import json
import os
import subprocess
import sys
from pathlib import Path

NOTEBOOK = Path(__file__).parent.parent / "examples" / "shares.ipynb"


def test_the_notebook_runs_and_draws(tmp_path):
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", str(tmp_path)]
    # What the draws say is not looked at here.
    subprocess.run([*command, str(NOTEBOOK)], check=True, env={**os.environ, "SEEDS": "20"})
    ran = json.loads((tmp_path / NOTEBOOK.name).read_text())
    outputs = [output for cell in ran["cells"] for output in cell.get("outputs", [])]
    pictures = [output for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) == 4
    assert not [output for output in outputs if output["output_type"] == "error"]


def test_the_notebook_is_committed_without_outputs():
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        assert not cell.get("outputs")
