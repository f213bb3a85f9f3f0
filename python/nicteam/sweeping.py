"""Thousands of experiments over a space of parameters, by Dask."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._nicteam import predict_many
from .program import ProgramError, run
from .space import Space, Value, Values

if TYPE_CHECKING:
    import distributed
    import pyarrow as pa

#: What a worker needs, so that a machine runs one measurement at a time.
LAB_RESOURCE = "nicteam-lab"
#: Predictions of one task, and the most points of one.
PREDICTIONS, CHUNK = 20_000, 1000
#: How often a task is done again whose worker was lost.
RETRIES = 3

OVER = ("predict", "lab")


def sweep(
    space: Space,
    over: str = "predict",
    *,
    store: str | os.PathLike[str],
    client: distributed.Client | None = None,
    seeds: int = 0,
    options: Sequence[str] = (),
    progress: bool | None = None,
) -> pa.Table:
    """Predict, or run in the lab, every point of a space.

    The result is a table with a row a point and run, sorted: the columns ``point`` and those of the
    parameters, then those of a prediction or of a record's runs. It is also in the folder ``store``, as
    Parquet, a file for each task. Points that are there already are not done again, so a sweep that
    was interrupted goes on by the same call. A folder that holds another sweep is refused.

    ``client`` is a Dask client; without one, a cluster of local processes is made and closed. Points of
    ``over="lab"`` take the resource ``nicteam-lab`` of a worker: start those of your cluster with
    ``dask worker --resources nicteam-lab=1``, one for each machine. ``seeds`` belongs to ``predict``,
    ``options`` (of ``nicteam lab run``) to ``lab``. ``progress``: a bar on standard error; by default
    where that is a terminal.

    Raises ValueError for a point whose experiment is refused, ProgramError for one that fails.
    """
    if over not in OVER:
        raise ValueError(f"a sweep is over {' or '.join(OVER)}, not {over!r}")
    import distributed
    import pyarrow.parquet

    folder = Path(store)
    chunk = max(1, min(CHUNK, PREDICTIONS // (1 + seeds))) if over == "predict" else 1
    asked: dict[str, Any] = {"space": space.identity(), "over": over, "seeds": seeds, "options": list(options), "chunk": chunk}
    with _held(folder, asked), _cluster(client, over) as client:
        starts = [first for first in range(0, len(space), chunk) if not _part(folder, first).exists()]
        # The template goes to each worker once, not with each task.
        there = client.scatter(space, broadcast=True, hash=False)
        resources = {LAB_RESOURCE: 1} if over == "lab" else None
        settings = seeds if over == "predict" else tuple(options)
        work = _predicted if over == "predict" else _measured
        futures = {
            client.submit(
                work, there, first, min(first + chunk, len(space)), settings,
                key=f"nicteam-{over}-{asked['space'][:12]}-{first}", pure=False, retries=RETRIES, resources=resources,
            ): first
            for first in starts
        }
        with _bar(len(space), len(space) - _points(space, starts, chunk), progress) as bar:
            for future in distributed.as_completed(list(futures)):
                first = futures.pop(future)
                _write(folder, first, future.result())
                future.release()
                bar.update(min(chunk, len(space) - first))
    tables = [pyarrow.parquet.read_table(_part(folder, first)) for first in range(0, len(space), chunk)]
    return pyarrow.concat_tables(tables, promote_options="permissive")


def _points(space: Space, starts: Sequence[int], chunk: int) -> int:
    return sum(min(chunk, len(space) - first) for first in starts)


def _part(folder: Path, first: int) -> Path:
    return folder / f"part-{first:09}.parquet"


def _write(folder: Path, first: int, table: pa.Table) -> None:
    """Writes a part whole, or not at all."""
    import pyarrow.parquet

    # Readers of the folder leave out what begins with a dot.
    unfinished = folder / f".part-{first:09}"
    pyarrow.parquet.write_table(table, unfinished)
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(_part(folder, first))


@contextmanager
def _held(folder: Path, asked: Mapping[str, Any]) -> Iterator[None]:
    """The folder of one sweep, for one process at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "_sweep.json"
    others = [entry.name for entry in folder.iterdir() if not entry.name.startswith((".", "_"))]
    if others and not path.exists():
        raise ValueError(f"{folder} holds {others[0]} and no sweep: name an empty folder, or a new one")
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"another process writes a sweep into {folder}") from None
        file.seek(0)
        before = file.read()
        if before and json.loads(before) != dict(asked):
            changed = [key for key, value in asked.items() if json.loads(before).get(key) != value]
            raise ValueError(f"{folder} holds another sweep ({', '.join(changed)} differs): name a new folder")
        if not before:
            json.dump(dict(asked), file)
            file.flush()
            os.fsync(file.fileno())
        yield


@contextmanager
def _cluster(client: distributed.Client | None, over: str) -> Iterator[distributed.Client]:
    import distributed

    if client is not None:
        if over == "lab":
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            if not any(LAB_RESOURCE in worker.get("resources", {}) for worker in workers):
                raise ValueError(
                    f"no worker of this cluster has the resource {LAB_RESOURCE!r}\n"
                    f"hint: start one on each machine with `dask worker --resources {LAB_RESOURCE}=1`"
                )
        yield client
        return
    # A measurement has the machine for itself.
    measured = {"n_workers": 1, "resources": {LAB_RESOURCE: 1}} if over == "lab" else {}
    with quiet_dask(), distributed.LocalCluster(
        threads_per_worker=1, dashboard_address="127.0.0.1:0", **measured
    ) as cluster:
        with distributed.Client(cluster) as own:
            yield own


@contextmanager
def quiet_dask() -> Iterator[None]:
    """A cluster of local processes that is made meanwhile observes itself less: nobody looks at it."""
    import dask.config

    # A worker looks at its own stack each 10 ms otherwise, and at its clock each 20 ms.
    settings = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}
    with dask.config.set(settings):
        yield


@contextmanager
def _bar(total: int, done: int, wanted: bool | None) -> Iterator[Any]:
    import tqdm

    shown = sys.stderr.isatty() if wanted is None else wanted
    with tqdm.tqdm(total=total, initial=done, unit=" points", disable=not shown) as bar:
        yield bar


def _predicted(space: Space, first: int, end: int, seeds: int) -> pa.Table:
    import pyarrow as pa

    points = space.points_between(first, end)
    try:
        batch = pa.record_batch(predict_many([space.filled(point) for point in points], seeds))
    except ValueError as error:
        raise ValueError(f"points {first} to {end - 1}, counted from {first}: {error}") from None
    places = batch.column("point").to_pylist()
    return _with_points(points, first, places, pa.Table.from_batches([batch]).drop_columns("point"))


def _measured(space: Space, first: int, end: int, options: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    points = space.points_between(first, end)
    tables = []
    for place, point in enumerate(points):
        # Only the table is kept: a worker's disk is not the client's.
        with tempfile.TemporaryDirectory(prefix="nicteam-") as folder:
            try:
                output = Path(folder) / "record"
                record = run(f"point-{first + place}", text=space.filled(point), output=output, options=options)
            except ProgramError as error:
                raise ProgramError(f"point {first + place} ({point}): {error}", error.exit_code) from None
            runs = pa.table(record.runs())
            found = record.as_dict()["runs"]
        causes = [entry["findings"][0]["cause"] if entry.get("findings") else None for entry in found]
        runs = runs.append_column("cause", pa.array(causes, pa.string()))
        tables.append(_with_points([point], first + place, [0] * len(found), runs))
    return pa.concat_tables(tables)


def _with_points(points: list[dict[str, Value]], first: int, places: list[int], table: pa.Table) -> pa.Table:
    """Puts the points before the columns of their runs."""
    import pyarrow as pa

    columns: dict[str, Any] = {"point": pa.array([first + place for place in places], pa.uint64())}
    for name in points[0]:
        columns[name] = pa.array([points[place][name] for place in places])
    for name in table.column_names:
        columns[name] = table.column(name)
    return pa.table(columns)


def read_file(path: str | os.PathLike[str]) -> tuple[Space, dict[str, Any]]:
    """The space in a file of a sweep, and the arguments of :func:`sweep`. docs/python.md describes it."""
    file = Path(path)
    try:
        whole = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: {error}") from None
    known = {"experiment", "sampling", "points", "seed", "over", "store", "seeds", "options", "parameters"}
    unknown = sorted(set(whole) - known)
    if unknown:
        raise ValueError(f"{file}: no key `{unknown[0]}`; there are {', '.join(sorted(known))}")
    for needed in ("experiment", "parameters"):
        if needed not in whole:
            raise ValueError(f"{file}: key `{needed}` is missing")

    def values(name: str, given: Any) -> Sequence[Value] | Values:
        if isinstance(given, list):
            return given
        if isinstance(given, dict) and set(given) == {"from", "to"}:
            return Values(given["from"], given["to"])
        raise ValueError(f"{file}: parameter `{name}` is a list, or {{ from = 1, to = 64 }}")

    template = (file.parent / whole["experiment"]).read_text(encoding="utf-8")
    space = Space(
        template,
        {name: values(name, given) for name, given in whole["parameters"].items()},
        sampling=whole.get("sampling", "grid"),
        points=whole.get("points", 0),
        seed=whole.get("seed", 1),
    )
    arguments = {
        "over": whole.get("over", "predict"),
        "store": whole.get("store", f"{file.stem}.parquet"),
        "seeds": whole.get("seeds", 0),
        "options": whole.get("options", []),
    }
    return space, arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """``nicteam sweep FILE``."""
    parser = argparse.ArgumentParser(prog="nicteam sweep", description=main.__doc__)
    parser.add_argument("file", metavar="FILE", help="the sweep, in TOML: docs/python.md describes it")
    parser.add_argument("--store", metavar="DIR", help="folder for the result, instead of the file's")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster: tcp://10.0.0.1:8786; local processes by default")
    given = parser.parse_args(arguments)
    try:
        import distributed
        import pyarrow  # noqa: F401
        import tqdm  # noqa: F401
    except ImportError as error:
        print(f"nicteam sweep: {error}\nhint: pip install 'nicteam[sweep]'", file=sys.stderr)
        return 3
    try:
        space, settings = read_file(given.file)
        if given.store:
            settings["store"] = given.store
        client = distributed.Client(given.scheduler) if given.scheduler else None
        table = sweep(space, client=client, progress=None, **settings)
    except (ValueError, OSError) as error:
        print(f"nicteam sweep: {error}", file=sys.stderr)
        return 2
    except ProgramError as error:
        print(f"nicteam sweep: {error}", file=sys.stderr)
        return 1
    print(f"{table.num_rows} rows of {len(space)} points: {settings['store']}")
    return 0
