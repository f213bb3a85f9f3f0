"""Predictions, members of flows, records: beside the program `nicteam` where it says the same."""

import json
import subprocess

import nicteam
import pandas
import polars
import pyarrow
import pytest
from nicteam.program import program


def said(*arguments):
    return subprocess.run([program(), *arguments], capture_output=True, text=True, check=True).stdout


def test_which_is_what_the_program_says():
    macs = {"src_mac": "02:00:00:00:00:01", "dst_mac": "02:00:00:00:00:02"}
    for policy in nicteam.policies():
        for port in (40000, 40001, 40002):
            flow = f"tcp 10.0.0.1:{port} -> 10.0.0.2:5001"
            options = ["--src-mac", macs["src_mac"], "--dst-mac", macs["dst_mac"]]
            printed = said("which", "--xmit-hash-policy", policy, "--members", "4", "--flow", flow, *options)
            assert nicteam.which(flow, policy, 4, **macs) == int(printed), policy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tcp 10.0.0.1 -> 10.0.0.2:1", "layer3+4", 4), "no address with a port"),
        (("tcp 10.0.0.1:1 -> 10.0.0.2:1", "layer5", 4), "layer5"),
        (("tcp 10.0.0.1:1 -> 10.0.0.2:1", "layer2", 4), "give src_mac"),
        (("tcp 10.0.0.1:1 -> 10.0.0.2:1", "layer3+4", 0), "members"),
        (("icmp 10.0.0.1 -> 10.0.0.2", "layer3+4", 2), "identifier"),
    ],
)
def test_what_is_no_flow_is_refused_by_name(arguments, words):
    with pytest.raises(ValueError, match=words):
        nicteam.which(*arguments)


def test_predictions_are_what_the_program_says():
    for name, _title in nicteam.experiments():
        printed = json.loads(said("lab", "predict", name, "--json"))[0]["runs"]
        assert nicteam.predict(name) == printed, name
    printed = json.loads(said("lab", "predict", "t3", "--seeds", "50", "--rate", "1gbit", "--json"))[0]["runs"]
    assert nicteam.predict("t3", seeds=50, rate="1gbit") == printed


def test_a_wrong_file_is_refused_with_its_lines():
    with pytest.raises(ValueError, match=r"x:1:1|hosts"):
        nicteam.predict("x", text="title = 1")
    with pytest.raises(ValueError, match="no-such"):
        nicteam.predict("no-such")
    with pytest.raises(ValueError, match="rate|fast"):
        nicteam.predict("t3", rate="fast")


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("record") / "two-hosts"
    return nicteam.run("two-hosts", output=folder, options=["--duration", "1s", "--rate", "20mbit"])


def test_a_run_leaves_a_record_that_is_read(record):
    assert (record.name, record.run_names()) == ("two-hosts", ["one-connection"])
    runs = pyarrow.table(record.runs())
    assert runs["of_limit"][0].as_py() > 0.5
    whole = json.loads((record.folder / "record.json").read_text())
    assert record.as_dict()["runs"][0]["delivered_bps"] == pytest.approx(whole["runs"][0]["delivered_bps"])
    again = nicteam.load_record(record.folder)
    assert pyarrow.table(again.runs()).equals(runs)
    assert [finding.run for finding in nicteam.findings(record)] == ["one-connection"] * len(
        nicteam.findings(record)
    )


def test_samples_are_tables_of_polars_and_pandas(record):
    frame = polars.DataFrame(record.connections("one-connection"))
    last = frame.filter(polars.col("received_bytes") > 0).sort("t_ms").tail(1)
    assert last["received_bytes"][0] > 0
    lines = (record.folder / "samples" / "one-connection.jsonl").read_text().splitlines()
    assert frame.height == sum(len(json.loads(line).get("connections", [])) for line in lines)
    assert pandas.DataFrame.from_arrow(record.connections("one-connection")).shape == frame.shape
    assert pyarrow.table(record.connections("one-connection")).to_pandas().shape == frame.shape
    with pytest.raises(KeyError, match="one-connection"):
        record.members("other")


def test_a_folder_without_a_record_is_an_error(tmp_path):
    with pytest.raises(OSError, match="record.json"):
        nicteam.load_record(tmp_path)


def test_the_programs_refusal_is_an_exception_with_its_words():
    with pytest.raises(nicteam.ProgramError, match="no-such") as refused:
        nicteam.run("no-such", output="never-made")
    assert refused.value.exit_code == 2
