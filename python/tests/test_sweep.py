"""Sweeps: the points, the table, and what is lost when processes are."""

import os
import signal
import subprocess
import sys
import threading
import time

from pathlib import Path

import distributed
import nicteam
import pyarrow
import pyarrow.parquet
import pytest
from nicteam import sweeping

sys.path.insert(0, str(Path(__file__).parent.parent / "benches"))
import processes  # noqa: E402

TEMPLATE = """
title = "Flows over a group"
[defaults]
seed = ${seed}
rate = "20mbit"
warmup = "200ms"
duration = "500ms"
[teams.some]
mode = "balance-xor"
xmit_hash_policy = "layer3+4"
[hosts]
a = { team = "some" }
b = { team = "some" }
[switches]
sw = { spread = "src-dst-port" }
[[links]]
between = [["a", "b"], "sw"]
count = ${members}
[workloads.copy]
kind = "tcp"
from = "a"
to = "b"
connections = ${flows}
[[runs]]
name = "r"
workloads = "copy"
"""


def space(**changed):
    values = {"members": [2, 4], "flows": nicteam.Values(1, 8), "seed": nicteam.Values(1, 10)}
    return nicteam.Space(TEMPLATE, values, **changed)


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        with distributed.Client(cluster) as client:
            yield client


def test_points_are_the_same_everywhere_and_cover_the_space():
    grid = space()
    assert len(grid) == 160
    seen = {tuple(point.items()) for point in grid.points_between(0, 160)}
    assert len(seen) == 160
    latin = space(sampling="latin-hypercube", points=10)
    assert sorted(latin.point(n)["seed"] for n in range(10)) == list(range(1, 11))
    assert latin.points_between(3, 7) == [latin.point(n) for n in range(3, 7)]
    random = space(sampling="random", points=5, seed=2)
    assert random.points_between(0, 5) == space(sampling="random", points=5, seed=2).points_between(0, 5)
    assert random.identity() != space(sampling="random", points=5, seed=3).identity()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"template": "x = ${missing}", "parameters": {}}, "missing"),
        ({"template": "x = 1", "parameters": {"unused": [1]}}, "unused"),
        ({"template": "x = ${run}", "parameters": {"run": [1]}}, "column"),
        ({"template": "x = ${a}", "parameters": {"a": []}}, "no value"),
        ({"template": "x = ${a}", "parameters": {"a": nicteam.Values(0.5, 1.0)}}, "whole numbers"),
        ({"template": "cost: 5$ ${a}", "parameters": {"a": [1]}}, "dollar"),
        ({"template": "x = ${a}", "parameters": {"a": [1]}, "sampling": "dense"}, "dense"),
        ({"template": "x = ${a}", "parameters": {"a": [1]}, "sampling": "random"}, "points"),
    ],
)
def test_a_wrong_space_is_refused_by_name(changed, words):
    with pytest.raises(ValueError, match=words):
        nicteam.Space(**changed)


def test_a_sweep_is_what_predictions_are(tmp_path, client):
    table = nicteam.sweep(space(), store=tmp_path / "s", client=client)
    assert table.num_rows == 160
    for n in (0, 77, 159):
        row = table.slice(n, 1).to_pylist()[0]
        (expected,) = nicteam.predict("point", text=space().text(n))
        assert row["point"] == n
        assert {name: row[name] for name in ("members", "flows", "seed")} == space().point(n)
        assert row["of_limit"] == expected["of_limit"]
    assert pyarrow.parquet.read_table(tmp_path / "s").sort_by("point").equals(table)


def test_done_points_are_not_done_again_and_other_sweeps_are_refused(tmp_path, client, monkeypatch):
    monkeypatch.setattr(sweeping, "CHUNK", 20)
    store = tmp_path / "s"
    table = nicteam.sweep(space(), store=store, client=client)
    parts = {path: path.stat().st_mtime_ns for path in store.glob("part-*")}
    assert len(parts) == 8
    lost = sorted(parts)[3]
    lost.unlink()
    assert nicteam.sweep(space(), store=store, client=client).equals(table)
    again = {path: path.stat().st_mtime_ns for path in store.glob("part-*")}
    assert {path for path in parts if parts[path] != again[path]} == {lost}
    with pytest.raises(ValueError, match="another sweep .seeds differs"):
        nicteam.sweep(space(), store=store, client=client, seeds=5)


def test_a_lost_worker_changes_nothing(tmp_path, client, monkeypatch):
    monkeypatch.setattr(sweeping, "CHUNK", 5)
    expected = nicteam.sweep(space(), store=tmp_path / "whole", client=client)
    pids = list(client.run(os.getpid).values())

    def kill():
        while not list((tmp_path / "lost").glob("part-*")):
            time.sleep(0.001)
        os.kill(pids[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    table = nicteam.sweep(space(), store=tmp_path / "lost", client=client, seeds=0)
    killer.join()
    assert table.equals(expected)
    ours = sorted((tmp_path / "lost").glob("part-*"))
    whole = sorted((tmp_path / "whole").glob("part-*"))
    assert [path.read_bytes() for path in ours] == [path.read_bytes() for path in whole]


def write_sweep(folder):
    (folder / "t.toml").write_text(TEMPLATE)
    text = 'experiment = "t.toml"\n[parameters]\nmembers = [2, 4]\nflows = { from = 1, to = 8 }\n'
    (folder / "s.toml").write_text(text + "seed = { from = 1, to = 500 }\n")
    # The installed package, not the sources beside the tests (-P).
    return [sys.executable, "-P", "-m", "nicteam", str(folder / "s.toml"), "--store", str(folder / "s")]


def test_a_killed_sweep_goes_on_where_it_was(tmp_path):
    command = write_sweep(tmp_path)
    first = subprocess.Popen(command, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "s").glob("part-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "s").glob("part-*")}
    assert before, "no part was written"
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("8000 rows of 8000 points")
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "s").glob("part-*")}
    assert {name: after[name] for name in before} == before
    table = pyarrow.parquet.read_table(tmp_path / "s")
    assert sorted(table["point"].to_pylist()) == list(range(8000))


def test_of_a_sweep_whose_process_was_killed_nothing_is_computed_twice(tmp_path, client, monkeypatch):
    points, log = 6000, tmp_path / "log"
    client.run(processes.note, str(log))
    nicteam.sweep(processes.space(points), store=tmp_path / "whole", client=client)
    whole = processes.parts(tmp_path / "whole")
    # That what is computed is noted at all.
    assert sorted(int(line) for line in log.read_text().splitlines()) == list(range(0, points, 1000))
    resumed = processes.lost_driver(points, tmp_path / "driver", whole)
    assert 0 < len(resumed.before) < len(whole), "it was killed in the middle"
    assert resumed.twice() == 0
    assert sorted(resumed.before + resumed.after) == list(range(0, points, 1000))
    assert resumed.is_same


def test_all_processes_of_a_cluster_predict(tmp_path, client, monkeypatch):
    monkeypatch.setattr(sweeping, "CHUNK", 5)
    client.run(by_process, str(tmp_path))
    nicteam.sweep(space(), store=tmp_path / "s", client=client)
    done = {path.name: path.read_text().count("\n") for path in tmp_path.glob("by-*")}
    assert len(done) == 2 and sum(done.values()) == 32, done


def by_process(folder):
    processes.note(f"{folder}/by-{os.getpid()}")


def test_a_machine_runs_one_measurement_at_a_time(tmp_path):
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=4,
        resources={sweeping.LAB_RESOURCE: 1},
        dashboard_address="127.0.0.1:0",
    ) as cluster, distributed.Client(cluster) as client:
        client.run(measure_nothing, str(tmp_path / "log"))
        small = nicteam.Space(TEMPLATE.replace("${seed}", "1"), {"members": [2], "flows": nicteam.Values(1, 8)})
        nicteam.sweep(small, "lab", store=tmp_path / "s", client=client)
    assert (tmp_path / "log").read_text() == "begin\nend\n" * 8


def measure_nothing(log):
    """A measurement takes the machine for a while, and delivers nothing."""

    def measured(space, first, end, options):
        for word in ("begin", "end"):
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{word}\n")
            time.sleep(0.02)
        return pyarrow.table({"point": [first]})

    sweeping._measured = measured


def test_a_wrong_file_of_a_sweep_is_refused_by_key(tmp_path, capsys):
    write_sweep(tmp_path)
    for text, words in [
        ('experiment = "t.toml"\nparameter = {}', "no key `parameter`"),
        ('experiment = "t.toml"', "`parameters` is missing"),
        ('experiment = "t.toml"\n[parameters]\nmembers = 3', "parameter `members`"),
        ("experiment = \n", "bad.toml: Invalid value (at line 1"),
        ('experiment = "none.toml"\n[parameters]\n', "none.toml"),
    ]:
        (tmp_path / "bad.toml").write_text(text)
        assert sweeping.main([str(tmp_path / "bad.toml")]) == 2
        assert words in capsys.readouterr().err


def test_a_sweep_over_the_lab_measures(tmp_path):
    small = nicteam.Space(TEMPLATE.replace("${seed}", "1"), {"members": [2], "flows": [1, 2]})
    table = nicteam.sweep(small, "lab", store=tmp_path / "s")
    assert table["flows"].to_pylist() == [1, 2]
    assert all(0.2 < part < 1.1 for part in table["of_limit"].to_pylist())


def test_a_cluster_without_the_resource_of_a_lab_is_refused(tmp_path, client):
    with pytest.raises(ValueError, match="--resources nicteam-lab=1"):
        nicteam.sweep(space(), "lab", store=tmp_path / "s", client=client)
