"""Why a run did not deliver what its links can carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._nicteam import Record


@dataclass(frozen=True)
class Finding:
    """One cause."""

    run: str
    """The run that it holds back."""
    cause: str
    """Name of the rule that recognised it: ``hash``, ``loss``. The set is open."""
    side: str
    """Where it lies: ``sending``, ``receiving``, ``links``, ..."""
    lost: float
    """Part of the run's limit that was lost to it, 0 to 1."""
    node: str | None
    """Host or switch that chose among the links."""
    policy: str | None
    """What it chose by."""
    connections: tuple[int, ...]
    """The connections concerned, by their numbers in the run."""
    details: dict[str, Any]
    """What else the rule found; docs/record.md lists the fields by cause."""


def findings(record: Record) -> list[Finding]:
    """Every finding of a record, by run, the costliest first."""

    def of(run: str, found: dict[str, Any]) -> Finding:
        return Finding(
            run=run,
            cause=found["cause"],
            side=found["side"],
            lost=found["lost"],
            node=found.get("node"),
            policy=found.get("policy"),
            connections=tuple(found["connections"]),
            details=found.get("details", {}),
        )

    runs = record.as_dict()["runs"]
    return [of(run["name"], found) for run in runs for found in run.get("findings", ())]
