"""What two processes give a sweep, and what is lost with a worker and with the process that sweeps.

``make sweep-bench`` runs it and writes the figures into docs/python.md. Rounds with one process and with two take turns,
because other programs on the machine disturb both alike then. Where they take the processors, the wall time says little;
so the processor time of all processes is printed, too.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import distributed
import nicteam
from nicteam import sweeping

TEMPLATE = (Path(__file__).parent.parent / "examples" / "two-groups.toml").read_text(encoding="utf-8")
BEGIN, END = "<!-- figures: written by `make sweep-bench` -->", "<!-- end of figures -->"


def space(points: int, first: int = 1) -> nicteam.Space:
    """Each point has a seed of its own, from ``first`` on, and so addresses of its own."""
    template = TEMPLATE.replace("[teams.group]", "[defaults]\nseed = ${seed}\n\n[teams.group]")
    parameters = {"policy": ["layer2+3", "layer3+4"], "links": [2, 4], "connections": [1, 4, 8, 16, 32]}
    return nicteam.Space(template, {**parameters, "seed": nicteam.Values(first, first + points // 20 - 1)})


@contextmanager
def cluster(workers: int) -> Iterator[distributed.Client]:
    with sweeping.quiet_dask(), distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        with distributed.Client(cluster) as client:
            # What is imported first is not measured.
            client.run(sweeping._predicted, space(20), 0, 20, 0)
            yield client


@dataclass
class Time:
    """What a number of points took, in seconds."""

    wall: float = 0.0
    workers: float = 0.0
    own: float = 0.0

    def add(self, client: distributed.Client, points: nicteam.Space) -> None:
        with tempfile.TemporaryDirectory() as store:
            workers, own, wall = sum(client.run(time.process_time).values()), time.process_time(), time.monotonic()
            nicteam.sweep(points, store=store, client=client, progress=False)
            self.wall += time.monotonic() - wall
            self.own += time.process_time() - own
            self.workers += sum(client.run(time.process_time).values()) - workers


def speed(points: int, rounds: int) -> list[str]:
    times = {1: Time(), 2: Time()}
    each = points // rounds
    for number in range(rounds):
        for workers in (1, 2) if number % 2 == 0 else (2, 1):
            # An idle cluster takes a tenth of a processor.
            with cluster(workers) as client:
                times[workers].add(client, space(each, 1 + number * each // 20))
    one_time, two_time = times[1], times[2]
    # With two processors for themselves the workers share them with the scheduler.
    possible = one_time.workers / max(two_time.workers / 2, (two_time.workers + two_time.own) / 2)
    lines = ["| processes | wall time | processor time of the workers | of the scheduler and the caller |", "|---|---|---|---|"]
    for workers, it in times.items():
        lines.append(f"| {workers} | {it.wall:.1f} s | {it.workers:.1f} s | {it.own:.1f} s |")
    return [
        *lines,
        "",
        f"{points:,} predictions with each number of processes, in {rounds} rounds that take turns. By wall time two",
        f"processes are {one_time.wall / two_time.wall:.2f} times as fast as one. By processor time two processors that are free allow",
        f"{possible:.2f} times.",
    ]


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("part-*")}


def lost_worker(points: int, folder: Path, whole: dict[str, bytes]) -> bool:
    """Kills a worker after half of a sweep; true if the files are those of one in which nothing was lost."""
    with cluster(2) as client:
        pid = next(iter(client.run(os.getpid).values()))

        def kill() -> None:
            while len(parts(folder)) < len(whole) // 2:
                time.sleep(0.01)
            os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        nicteam.sweep(space(points), store=folder, client=client, progress=False)
        killer.join()
    return parts(folder) == whole


@dataclass
class Resumed:
    """A sweep whose process was killed, and that went on by the same call."""

    #: First points of the files that were there, and of those computed afterwards.
    before: list[int]
    after: list[int]
    #: The files are those of a sweep in which nothing was lost.
    is_same: bool

    def twice(self) -> int:
        """Files whose points were there and computed again, or computed twice afterwards."""
        return len(set(self.before) & set(self.after)) + len(self.after) - len(set(self.after))


def lost_driver(points: int, folder: Path, whole: dict[str, bytes]) -> Resumed:
    """Kills the process that sweeps after half of it, its workers not, and lets another one go on."""
    logs = [folder.with_suffix(f".{number}") for number in (1, 2)]
    command = [sys.executable, __file__, "--counted", str(points), str(folder)]
    first = subprocess.Popen([*command, str(logs[0])], stderr=subprocess.DEVNULL)
    while first.poll() is None and len(list(folder.glob("part-*"))) < len(whole) // 2:
        time.sleep(0.01)
    first.kill()
    first.wait()
    before = [int(name.split("-")[1].split(".")[0]) for name in parts(folder)]
    subprocess.run([*command, str(logs[1])], check=True)
    after = [int(line) for line in logs[1].read_text().splitlines()]
    return Resumed(before, after, parts(folder) == whole)


def note(log: str) -> None:
    """Notes what this worker computes from now on: the first point of each task, a line."""
    predicted = sweeping._predicted

    def noted(space: nicteam.Space, first: int, end: int, seeds: int) -> object:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{first}\n")
        return predicted(space, first, end, seeds)

    sweeping._predicted = noted  # type: ignore[assignment]


def counted(points: int, folder: Path, log: str) -> None:
    with cluster(2) as client:
        client.run(note, log)
        nicteam.sweep(space(points), store=folder, client=client, progress=False)


def replaced(page: str, figures: Sequence[str]) -> str:
    """The page with these figures in the place of those before, or in a section before the last one."""
    section = "\n".join([BEGIN, "", *figures, "", END])
    if BEGIN in page:
        return page.split(BEGIN)[0] + section + page.split(END)[1]
    head, last = page.rsplit("\n## ", 1)
    return f"{head}\n## Two processes and one\n\n{section}\n\n## {last}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000, help="predictions with each number of processes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--page", type=Path, help="the page to write the figures into; otherwise they are printed")
    parser.add_argument("--counted", nargs=3, metavar=("POINTS", "STORE", "LOG"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if given.counted:
        counted(int(given.counted[0]), Path(given.counted[1]), given.counted[2])
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        figures = speed(given.points, given.rounds)
        points = given.points // given.rounds
        with cluster(2) as client:
            nicteam.sweep(space(points), store=folder / "whole", client=client, progress=False)
        whole = parts(folder / "whole")
        is_same = lost_worker(points, folder / "worker", whole)
        resumed = lost_driver(points, folder / "driver", whole)
    same = {True: "the same, byte for byte", False: "OTHERS"}
    figures += [
        "",
        f"- A worker was killed (SIGKILL) in the middle of {points:,} points: the {len(whole)} files are",
        f"  {same[is_same]}.",
        f"- The process that sweeps was killed (SIGKILL) with {len(resumed.before)} of {len(whole)} files written. The same call then",
        f"  computed the points of {len(resumed.after)} files, those of {resumed.twice()} a second time; the files are {same[resumed.is_same]}.",
    ]
    if given.page:
        given.page.write_text(replaced(given.page.read_text(encoding="utf-8"), figures), encoding="utf-8")
    print("\n".join(figures))


if __name__ == "__main__":
    main()
