"""The compiled half of the package."""

from pathlib import Path
from typing import Any

from .prediction import Prediction

class Table:
    """A table of Arrow: pyarrow, Polars and pandas take it by ``__arrow_c_array__``, without a copy."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    @property
    def num_rows(self) -> int: ...

class Record:
    """What an experiment left behind. The tables are Arrow's: ``pyarrow.table(record.runs())``,
    ``polars.DataFrame(record.runs())``. docs/record.md describes the columns."""

    def __init__(self, folder: Path) -> None: ...
    @property
    def folder(self) -> Path:
        """The folder of results."""
    @property
    def name(self) -> str:
        """Name of the experiment."""
    def as_dict(self) -> dict[str, Any]:
        """Everything, as ``record.json`` has it, with the findings of this version."""
    def run_names(self) -> list[str]:
        """The runs, in the order in which they ran."""
    def runs(self) -> Table:
        """A row a run."""
    def findings(self) -> Table:
        """A row a finding, by run, the costliest first."""
    def members(self, run: str) -> Table:
        """A row a member and sample: counters from the start of the run. Raises KeyError for no run."""
    def connections(self, run: str) -> Table:
        """A row a connection's end and sample. Raises KeyError for no run."""

def experiments() -> list[tuple[str, str]]:
    """The experiments that come with nicteam: names and titles."""

def policies() -> list[str]:
    """The hash policies: the kernel's, those of switches, illumos aggr's."""

def predict(
    name: str,
    text: str | None,
    seeds: int,
    only: list[str] | None,
    rate: str | None,
    duration: str | None,
    engines: list[str],
) -> list[Prediction]: ...
def predict_many(texts: list[str], seeds: int) -> Table: ...
def which(
    flow: str, policy: str, members: int, hash_buckets: int, src_mac: str | None, dst_mac: str | None
) -> int: ...
