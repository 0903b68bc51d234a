"""``fencepost policy compare``, run as a user runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

from fencepost.checks.commands.policy import compare as command
from fencepost.checks.policy.comparison import in_processes
from fencepost.model.balance.simulation.measures import MEASURES
from fencepost.traces.comparison import compare as compare_module
from fencepost.traces.comparison.comparison import Comparison, Contender
from tests import hostile
from tests.checks.policy.asking import asked as ask_policy
from tests.command import ROOT, Ran, fencepost

pytestmark = [pytest.mark.xdist_group("policy compare"), pytest.mark.long]
SNAPSHOT = ROOT / "docs" / "examples" / "policy" / "restarted.json"


def asked(*arguments: str | Path) -> Ran:
    return ask_policy("compare", *arguments)


def small(out: Path, *others: str | Path) -> Sequence[str | Path]:
    world = ("--brokers", "4", "--bundles", "16", "--topics-per-bundle", "4")
    return ("--out", out, *world, "--runs", "10", "--hours", "0.5", "--quiet", *others)


def test_a_policy_against_itself(tmp_path: Path) -> None:
    status, out, err = asked(*small(tmp_path / "out"), "--conf", "ThresholdShedder", "--format", "json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert {row["verdict"] for row in document["measures"]} == {"no difference"}
    assert {row["difference"] for row in document["measures"]} == {0.0}
    assert all(row["worst_run"] is None for row in document["measures"])
    assert [policy["changes"] for policy in document["policies"]] == [{}, {}]


@pytest.fixture(scope="module")
def wandering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison in which the proposed configuration keeps bundles wandering, and its page."""
    folder = tmp_path_factory.mktemp("wandering")
    conf = folder / "proposed.conf"
    conf.write_text("lowerBoundarySheddingEnabled=true\n")
    ask = ["--conf", conf, "--snapshot", SNAPSHOT, "--runs", "10", "--hours", "1", "--quiet", "--out", folder / "out"]
    assert asked(*ask, "--html", folder / "page.html").returncode == 12
    return folder


def again(wandering: Path, *others: str | Path) -> Sequence[str | Path]:
    ask = ["--conf", wandering / "proposed.conf", "--snapshot", SNAPSHOT, "--runs", "10", "--hours", "1", "--quiet"]
    return (*ask, "--out", wandering / "out", *others)


def test_what_gets_worse_is_found(wandering: Path) -> None:
    status, out, _ = asked(*again(wandering, "--format", "json"))
    document = json.loads(out)
    rows = {row["measure"]: row for row in document["measures"]}
    assert (status, document["status"], document["outcome"], document["runs"]) == (12, 12, "complete", 10)
    assert rows["unloads_per_hour"]["verdict"] == "worse"
    assert rows["imbalance"]["verdict"] == "no difference"
    assert "time_to_fill" not in rows
    low, high = rows["unloads_per_hour"]["interval"]
    assert 0 < low < rows["unloads_per_hour"]["difference"] < high
    changed = document["policies"][1]["changes"]
    assert changed == {"lowerBoundarySheddingEnabled": {"baseline": "false", "proposed": "true"}}
    table = pq.read_table(document["file"])
    means = {name: table.filter(np.arange(20) % 2 == place)["unavailable"].to_numpy().mean() for place, name in enumerate("ab")}
    row = rows["unavailable"]
    assert (row["baseline"], row["proposed"]) == (pytest.approx(means["a"]), pytest.approx(means["b"]))


def test_the_worst_run_is_the_worst_and_is_written_down(wandering: Path) -> None:
    document = json.loads(asked(*again(wandering, "--format", "json"))[1])
    row = next(row for row in document["measures"] if row["measure"] == "unloads_per_hour")
    unloads = pq.read_table(document["file"])["unloads_per_hour"].to_numpy()
    assert row["worst_run"]["run"] == int(np.argmax(unloads[1::2] - unloads[::2]))
    trace = Path(row["worst_run"]["file"]).read_text()
    assert re.search(rf"^run {row['worst_run']['run']} of 10, noisy-rates, 1 h, seed {row['worst_run']['seed']}$", trace, re.M)
    after, before = trace.split(f"\n\n{wandering / 'proposed.conf'}: ")[1].split("\n\ndefaults: ")
    hourly = (unloads[1::2][row["worst_run"]["run"]], unloads[::2][row["worst_run"]["run"]])
    assert (after.count("  unload  "), before.count("  unload  ")) == hourly


def test_the_snapshot_is_a_row_of_its_own(wandering: Path) -> None:
    """Five brokers at 50 % and an empty one: what is now, and how far the first minute is from it."""
    document = json.loads(asked(*again(wandering, "--format", "json"))[1])
    now = document["now"]
    assert now["measures"] == {"imbalance": pytest.approx(1.2, rel=1e-6), "deviation": pytest.approx(0.1863, rel=1e-3)}
    assert now["reported"]["broker-6:8080"] == now["simulated"]["broker-6:8080"] == 0
    assert now["simulated"]["broker-1:8080"] == pytest.approx(0.5, rel=0.2)
    out = asked(*again(wandering))[1]
    assert re.search(r"^ +now +1\.2$", out, re.M)
    assert re.search(r"^now: the snapshot; the first simulated minute has imbalance 1\.2\d*, deviation 0\.18", out, re.M)


def test_another_load_manager_points_to_the_check(tmp_path: Path) -> None:
    out = asked(*small(tmp_path / "out"), "--conf", "TransferShedder")[1]
    assert "  another load manager owns bundles in another way: fencepost check --conf NEW --against OLD" in out


def test_nothing_is_made_again(wandering: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = asked(*again(wandering))[1]
    monkeypatch.setattr(compare_module, "row", None)
    assert asked(*again(wandering))[1] == before
    assert "worse in unloads_per_hour" in before.splitlines()[0]
    assert before.splitlines()[-1] == "something gets worse than is tolerated (exit 12)"


def test_what_is_tolerated_is_no_failure(wandering: Path) -> None:
    any_more = [f"--tolerance={name}=inf" for name in ("unloads_per_hour", "most_unloads", "unavailable")]
    status, out, _ = asked(*again(wandering, *any_more, "--tolerance", "topics_moved=1000%"))
    assert status == 0
    assert "worse in" not in out.splitlines()[0]
    assert out.endswith("\nnothing gets worse than is tolerated (exit 0)\n")
    assert asked(*again(wandering, *any_more, "--tolerance", "0", "--strict"))[0] == 12


def test_strictly_what_may_be_worse_is_not_good_enough(wandering: Path) -> None:
    tolerant = [f"--tolerance={name}=inf" for name in MEASURES if name != "imbalance"] + ["--tolerance", "imbalance=0"]
    lenient, out, _ = asked(*again(wandering, *tolerant))
    strict, _, _ = asked(*again(wandering, *tolerant, "--strict"))
    assert (lenient, strict) == (0, 20)
    assert f"not excluded yet: {wandering / 'proposed.conf'} worse than tolerated in imbalance\n" in out


def test_the_page_stands_alone(wandering: Path) -> None:
    page = (wandering / "page.html").read_text(encoding="utf-8")
    body = page.split("<main>")[1]
    assert body.index("worse in unloads_per_hour") < body.index("<svg")
    assert not re.search(r"<script|<link|<img|@import|url\((?!#)|src=|href=\"(?!#)", page)
    assert "#0101" not in page
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 3 + 2 * 3
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    named = set(re.findall(r"var\(--([a-z0-9-]+)\)", page)) - {"mono", "sans"}
    assert {"policy-0", "policy-1", "ink", "quiet"} <= named
    assert all(f"--{name}: light-dark(" in page for name in named)


def test_the_name_of_a_file_is_text_on_the_page(tmp_path: Path) -> None:
    conf = tmp_path / f"{hostile.NAME}.conf"
    conf.write_text("loadBalancerLoadSheddingStrategy=org.apache.pulsar.broker.loadbalance.impl.UniformLoadShedder\n")
    asked(*small(tmp_path / "out"), "--conf", conf, "--html", tmp_path / "page.html")
    assert hostile.is_text_in((tmp_path / "page.html").read_text(encoding="utf-8"))


def test_brokers_of_kubernetes_are_on_the_page_by_their_pods(tmp_path: Path) -> None:
    """As in the text: moves to them are among the actions of a run."""
    end = ".pulsar-broker.pulsar.svc.cluster.local:8080"
    file = tmp_path / "snapshot.json"
    file.write_text(SNAPSHOT.read_text(encoding="utf-8").replace(":8080", end), encoding="utf-8")
    page, ask = tmp_path / "page.html", ("--conf", "UniformLoadShedder", "--runs", "2", "--hours", "0.3", "--quiet")
    text = asked(*ask, "--snapshot", file, "--out", tmp_path / "out", "--html", page).stdout
    brokers = sorted(name.removesuffix(end) for name in json.loads(file.read_text(encoding="utf-8"))["brokers"])
    written, without = page.read_text(encoding="utf-8"), f"ames of brokers are without {end}"
    assert any(name in written for name in brokers)
    assert (written.count(end), written.count(f"N{without}.")) == (1, 1)
    assert (text.count(end), text.count(f"n{without}\n")) == (1, 1)


def test_the_same_comparison_gives_the_same_page(wandering: Path, tmp_path: Path) -> None:
    asked(*again(wandering, "--html", tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_bytes() == (wandering / "page.html").read_bytes()


@pytest.mark.deep
def test_what_if_there_were_other_brokers_and_another_load(tmp_path: Path) -> None:
    """Four brokers at half their load, of which one can be done without; ten times the load is nothing to choose."""
    tolerant = [f"--tolerance={name}=inf" for name in MEASURES if name not in ("overloaded", "refused")]
    proposed = ["--conf", "fewer=remove-broker=broker-4:8080", "--conf", "busy=load=10@public/namespace-1"]
    ask = small(tmp_path / "out", *proposed, "--namespaces", "2", "--load", "30", "--scenario", "steady", *tolerant)
    status, out, _ = asked(*ask, "--format", "json", "--html", tmp_path / "page.html")
    document = json.loads(out)
    assert status == 12
    assert [policy["supposes"] for policy in document["policies"]] == [
        {},
        {"remove-broker": "broker-4:8080"},
        {"load": "10@public/namespace-1"},
    ]
    advice = document["recommendation"]
    assert advice["order"] == ["fewer", "defaults"]
    assert (advice["recommended"], advice["worse"], advice["brokers"]) == ("fewer", [], {"fewer": 3.0, "defaults": 4.0})
    overloaded = next(row for row in document["measures"] if (row["measure"], row["policy"]) == ("overloaded", "busy"))
    assert overloaded["verdict"] == "worse"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "recommended: fewer" in page
    assert "1 broker fewer, or their worth" in page
    assert "busy: carries another load" in page
    refused, _, err = asked(*ask, "--conf", "add-brokers=2,remove-broker=broker-9:8080")
    assert refused == 2
    assert "there is no broker 'broker-9:8080'" in err


def test_several_policies_are_one_table(tmp_path: Path) -> None:
    ask = small(tmp_path / "out", "--conf", "OverloadShedder", "--conf", "UniformLoadShedder", "--hours", "0.2")
    page = tmp_path / "sub" / "page.html"
    _, out, err = asked(*ask, "--html", page)
    assert err == f"page: {page}\n"
    lines = out.splitlines()
    assert [line.split(" against ")[0] for line in lines[:2]] == ["OverloadShedder", "UniformLoadShedder"]
    row = next(place for place, line in enumerate(lines) if line.startswith("imbalance"))
    assert [line.split()[0] for line in lines[row + 1 : row + 3]] == ["OverloadShedder", "UniformLoadShedder"]
    written = page.read_text()
    assert written.count("How the differences of ") == 2
    order = re.findall(r"<li><strong>(.*?)</strong>", written)
    assert sorted(order) == ["OverloadShedder", "UniformLoadShedder", "defaults"]
    assert "<strong>defaults</strong> (what you have)</li>" in written
    assert len(re.findall("<svg", written.split("<details")[0])) == 1, "the trade-off comes before all details"


def test_too_few_runs_decide_nothing(tmp_path: Path) -> None:
    status, out, _ = asked(*small(tmp_path), "--runs", "1", "--conf", "UniformLoadShedder")
    assert status == 20
    assert "a measure with fewer than 10 runs is left open" in out


def test_too_few_runs_have_no_order(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked(*small(tmp_path / "out"), "--runs", "2", "--hours", "0.1", "--conf", "UniformLoadShedder", "--html", page)
    assert "Which to prefer" not in page.read_text()


def test_interrupted_it_keeps_what_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def row(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 17:
            signal.raise_signal(signal.SIGINT)
        return real(*arguments)

    real = compare_module.row
    monkeypatch.setattr(compare_module, "row", row)
    ask = [*small(tmp_path, "--conf", "UniformLoadShedder"), "--tolerance", "inf"]
    status, out, err = asked(*ask)
    assert status == 20
    assert "interrupted: the runs that are complete are kept" in out
    assert "8 of 10 runs" in out
    assert "stopping" in err
    status, out, _ = asked(*ask)
    assert status == 0
    assert "interrupted:" not in out
    assert len(calls) == 17 + 4


def test_interrupted_at_once_it_has_nothing_to_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def row(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(compare_module, "row", row)
    ask = small(tmp_path / "out", "--conf", "UniformLoadShedder", "--html", tmp_path / "page.html")
    status, out, _ = asked(*ask)
    assert status == 20
    assert out.startswith("UniformLoadShedder against defaults: nothing to compare: no run is complete\n")
    assert "nothing to compare" in (tmp_path / "page.html").read_text()
    assert json.loads(asked(*ask, "--format", "json")[1])["measures"] == []


@pytest.mark.deep
def test_interrupted_on_spark_it_keeps_what_is_complete(tmp_path: Path) -> None:
    ask = [*small(tmp_path / "spark", "--conf", "UniformLoadShedder"), "--runs", "100"]
    words = [sys.executable, "-m", "fencepost", "policy", "compare", *map(str, ask), "--master", "local[1]"]
    running = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    while not (tmp_path / "spark" / "rounds" / "first=000000" / "_files.json").exists():
        assert running.poll() is None
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=300)
    assert "interrupted: the runs that are complete are kept" in out
    again = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    assert (running.returncode, again.returncode, again.stderr) == (20, 0, b"")
    asked(*small(tmp_path / "here", "--conf", "UniformLoadShedder"), "--runs", "100", "--master", "local[2]")
    assert (tmp_path / "spark" / "runs.parquet").read_bytes() == (tmp_path / "here" / "runs.parquet").read_bytes()


def test_a_fault_is_kept_with_its_input(tmp_path: Path) -> None:
    policy = tmp_path / "late.py"
    body = "    rounds = memory or 0\n    return {} if 1 // (19 - rounds) else {}, rounds + 1\n"
    policy.write_text(f"def shed(load, conf, memory):\n{body}")
    status, out, err = asked(*small(tmp_path / "out"), "--conf", f"{policy}:shed")
    fault = tmp_path / "out" / "fault.json"
    assert (status, out) == (75, "")
    message = f"fencepost: {policy}:3: ZeroDivisionError: integer division or modulo by zero"
    assert err.splitlines() == [message, f"  asked with {fault}; it remembered 19", f"  in run 0 of {policy}:shed"]
    status, out, _ = fencepost("policy", "decide", "--snapshot", fault, "--format", "json")
    assert status == 0
    assert len(json.loads(out)["rounds"][0]["usage"]) == 4


def test_a_policy_that_draws_lots_is_found_out(tmp_path: Path) -> None:
    policy = tmp_path / "dice.py"
    policy.write_text("import random\ndef place(bundle, candidates, load, conf):\n    return random.choice(candidates)\n")
    ask = small(tmp_path / "out", "--scenario", "restart", "--hours", "1")
    status, out, err = asked(*ask, "--conf", f"{policy}:place")
    assert (status, out) == (75, "")
    assert "is not a function of what it is handed; look for chance, clocks" in err


def test_a_violation_of_the_protocols_is_never_tolerated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def row(comparison: Comparison, run: int, contender: Contender) -> dict[str, Any]:
        return {**real(comparison, run, contender), "violations": int(run == 6 and contender.name == "OverloadShedder")}

    real = compare_module.row
    monkeypatch.setattr(compare_module, "row", row)
    status, out, _ = asked(*small(tmp_path, "--conf", "OverloadShedder", "--hours", "0.1", "--tolerance", "inf"))
    assert status == 12
    assert "violates the protocols in 1 run, first in run 6" in out


def test_without_a_master_no_spark_is_needed_and_the_file_is_the_same(tmp_path: Path) -> None:
    """Few runs are made in one process, more in several: in the same order, with the same values."""
    script = "import sys; sys.modules['pyspark'] = None; from fencepost.checks.cli import main; sys.exit(main(sys.argv[1:]))"
    ask = [*small(tmp_path / "many", "--conf", "UniformLoadShedder"), "--hours", "0.1", "--runs", str(command.FEW_RUNS + 1)]
    words = [sys.executable, "-c", script, "policy", "compare", "--pulsar", "4.2.4", *map(str, ask)]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode in (0, 12), ran.stderr) == (True, "")
    many = pq.read_table(tmp_path / "many" / "runs.parquet")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "FEW_RUNS", 100)
        asked(*ask, "--out", tmp_path / "few")
    assert many.equals(pq.read_table(tmp_path / "few" / "runs.parquet"))


def test_a_process_that_is_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()

    def row(*arguments: Any) -> Any:
        assert os.getpid() != parent
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(in_processes, "row", row)
    status, out, err = asked(*small(tmp_path, "--conf", "UniformLoadShedder"), "--runs", str(command.FEW_RUNS + 1))
    assert (status, out) == (153, "")
    assert err == "fencepost: a process that made runs was killed; the same command goes on with what is complete\n"


# --- wrong usage


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--conf", "absent.conf"], 150, "absent.conf: there is no such file"),
        (["--conf", "absent.py:shed"], 150, "absent.py: there is no such file"),
        (["--conf", "AvgShedder", "--against", "AvgShedder"], 2, "AvgShedder is named more than once"),
        (["--conf", "minUnloadMessage=few"], 150, "minUnloadMessage = 'few' is not a whole number"),
        (["--conf", "AvgShedder", "--tolerance", "much"], 2, "'much' is no amount; write 10%, or 3, or inf for any"),
        (["--conf", "AvgShedder", "--tolerance", "-1"], 2, "'-1' is no amount"),
        (["--conf", "AvgShedder", "--tolerance", "balance=3"], 2, "(did you mean imbalance?); there are imbalance, "),
        (["--conf", "AvgShedder", "--scenario", "flood"], 2, "there is no scenario 'flood'; there is\n  steady"),
        (["--conf", "AvgShedder", "--snapshot", "x.json", "--brokers", "3"], 2, "--brokers is of a generated cluster"),
        (["--conf", "AvgShedder", "--snapshot", "absent.json"], 150, "absent.json: there is no such file"),
        (["--conf", "AvgShedder", "--hours", "0"], 2, "'0' is not a time in hours, from a minute to 10000"),
        (["--conf", "AvgShedder", "--runs", "0"], 2, "'0' is not a whole number from 1 on"),
        (["--conf", "AvgShedder", "--seed", "-1"], 2, "'-1' is not a whole number from 0 on"),
        (["--conf", "AvgShedder", "--confidence", "95"], 2, "'95' is not between 0 and 1"),
        (["--conf", "AvgShedder", "--load", "none"], 2, "'none' is not a percentage above 0"),
        ([], 2, "required: --conf"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str], status: int, message: str) -> None:
    code, out, err = asked("--out", tmp_path / "out", *arguments)
    assert (code, out) == (status, "")
    assert message in err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else(tmp_path: Path, wandering: Path) -> None:
    (tmp_path / "letters").write_text("")
    status, out, err = asked(*small(tmp_path, "--conf", "AvgShedder"))
    assert (status, out) == (150, "")
    assert "is not empty and holds no run: name another folder" in err
    status, _, err = asked(*again(wandering, "--seed", "1"))
    assert status == 150
    assert "belongs to another run (seed is 0 there, 1 here)" in err


def test_a_snapshot_of_which_no_cluster_can_be_made(tmp_path: Path) -> None:
    whole, half = "n/s/0x00000000_0xffffffff", "n/s/0x00000000_0x80000000"
    (tmp_path / "s.json").write_text(json.dumps({"brokers": {"b1": {"bundles": [whole]}, "b2": {"bundles": [half]}}}))
    status, _, err = asked("--out", tmp_path / "out", "--conf", "AvgShedder", "--snapshot", tmp_path / "s.json")
    assert status == 150
    assert err.startswith(f"fencepost: {tmp_path / 's.json'}: the bundles of n/s overlap: ")


# --- the reference


def test_every_measure_is_in_the_reference() -> None:
    reference = (ROOT / "docs" / "reference" / "comparison.md").read_text(encoding="utf-8")
    assert {m.name for m in MEASURES.values() if f"| `{m.name}` | {m.unit} |" not in reference} == set()


def test_every_field_of_the_json_is_in_the_reference(wandering: Path) -> None:
    reference = (ROOT / "docs" / "reference" / "comparison.md").read_text(encoding="utf-8")
    document = json.loads(asked(*again(wandering, "--format", "json"))[1])
    names = {*document, *document["policies"][0], *document["measures"][0], *document["measures"][0]["worst_run"]}
    assert {name for name in names if f"`{name}`" not in reference} == set()
