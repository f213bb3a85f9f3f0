"""Predict, run and explain bundles of network links.

Which member of a bundle does a flow take?

>>> which("tcp 10.0.0.1:40000 -> 10.0.0.2:5001", policy="layer3+4", members=4)
2

What would an experiment deliver? Nothing is built, and no rights are needed.

>>> for run in predict("t3"):
...     print(run["run"], round(run["of_limit"], 2))
one-connection 0.25
four-connections 0.25
one-to-four 1.0
four-to-one 1.0
four-to-one-unlucky 0.5

:func:`run` carries an experiment out by the program ``nicteam``; :func:`load_record` reads what one
left behind; :func:`sweep` does either for thousands of points.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ._nicteam import Record, experiments, policies
from ._nicteam import predict as _predict
from ._nicteam import which as _which
from .finding import Finding, findings
from .prediction import Prediction
from .program import ProgramError, run
from .space import Space, Values
from .sweeping import sweep

__all__ = [
    "Finding",
    "Prediction",
    "ProgramError",
    "Record",
    "Space",
    "Values",
    "experiments",
    "findings",
    "load_record",
    "policies",
    "predict",
    "run",
    "sweep",
    "which",
]


def which(
    flow: str,
    policy: str,
    members: int,
    *,
    hash_buckets: int = 0,
    src_mac: str | None = None,
    dst_mac: str | None = None,
) -> int:
    """The member, counted from 0, that the frames of a flow take.

    ``policy`` is one of :func:`policies`. ``hash_buckets`` is how many values a switch's hash has (8
    at a Catalyst); 0 means as many as members. Raises ValueError for what is no flow, and where the
    policy hashes a MAC address that is not given.

    >>> which("tcp 10.0.0.1:40000 -> 10.0.0.2:5001", "src-dst-ip", 4)
    3
    """
    return _which(flow, policy, members, hash_buckets, src_mac, dst_mac)


def predict(
    experiment: str | os.PathLike[str] = "",
    *,
    text: str | None = None,
    seeds: int = 0,
    only: Sequence[str] | None = None,
    rate: str | None = None,
    duration: str | None = None,
    engines: Sequence[str] = (),
) -> list[Prediction]:
    """What each run of an experiment would deliver.

    ``experiment`` is the name of one that comes with nicteam (:func:`experiments`) or a file; ``text``
    is the file itself instead. With ``seeds``, addresses and ports are drawn that often, and ``drawn``
    has the distribution. Raises ValueError with every fault of the file, each with its line.

    >>> predict("two-hosts", rate="1gbit")[0]["held_by"]
    'the link from left to right'
    """
    name = os.fspath(experiment) or "experiment"
    chosen = None if only is None else list(only)
    return _predict(name, text, seeds, chosen, rate, duration, list(engines))


def load_record(folder: str | os.PathLike[str]) -> Record:
    """The record in a folder of results, with the findings of this version.

    Raises OSError where there is none, or where it cannot be read.
    """
    return Record(Path(folder))
