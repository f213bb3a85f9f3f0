"""The type of a prediction."""

from __future__ import annotations

from typing import TypedDict


class Drawn(TypedDict):
    """A distribution over addresses and ports, bit/s of payload."""

    p5_bps: float
    median_bps: float
    p95_bps: float


class Prediction(TypedDict):
    """What one run would deliver."""

    run: str
    """Its name."""
    limit_bps: float
    """Payload that its links can carry, bit/s."""
    bps: float | None
    """Payload that it would deliver, bit/s; None if it is not predicted."""
    of_limit: float | None
    """``bps / limit_bps``."""
    held_by: str | None
    """What holds most of its flows."""
    not_predicted: str | None
    """Why it is not predicted."""
    drawn: Drawn | None
    """With random addresses and ports; None without ``seeds``."""
