"""Experiments, carried out by the program ``nicteam``."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ._nicteam import Record


class ProgramError(RuntimeError):
    """The program refused, failed, or is not there. ``exit_code`` is its own, or None."""

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def program() -> str:
    """The program: ``$NICTEAM``, or the one on the path."""
    found = os.environ.get("NICTEAM") or shutil.which("nicteam")
    if not found:
        raise ProgramError(
            "the program `nicteam` is not on the path\n"
            "hint: `make && install target/release/nicteam /usr/local/bin/`, or set NICTEAM to it"
        )
    return found


def run(
    experiment: str | os.PathLike[str] = "",
    *,
    text: str | None = None,
    output: str | os.PathLike[str] | None = None,
    options: Sequence[str] = (),
) -> Record:
    """Carry an experiment out on this machine, and read what it left behind.

    ``experiment``, ``text``: as :func:`nicteam.predict` has them. ``output`` is the folder for the
    results, which must not exist; a new one below ``results`` otherwise. ``options`` are further ones
    of ``nicteam lab run`` (``["--only", "parallel"]``). Raises :class:`ProgramError` with the program's
    own words.
    """
    if output is None:
        Path("results").mkdir(exist_ok=True)
        output = Path(tempfile.mkdtemp(prefix="python-", dir="results")) / "record"
    with tempfile.TemporaryDirectory(prefix="nicteam-") as folder:
        name = os.fspath(experiment)
        if text is not None:
            file = Path(folder) / f"{name or 'experiment'}.toml"
            file.write_text(text, encoding="utf-8")
            name = str(file)
        command = [program(), "lab", "run", name, "--output", os.fspath(output), *options]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if ended.returncode != 0:
        raise ProgramError(ended.stderr.strip() or f"{command} ended with {ended.returncode}", ended.returncode)
    return Record(Path(output))
