"""``fencepost policy compare``: its statistics, its verdicts, and the command as a user runs it."""

from __future__ import annotations

import json
import math
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

from checks.cli import main
from checks.policy.comparison import command
from checks.policy.comparison.contenders import changes, contenders
from checks.policy.comparison.paired import FEWEST, Difference, Tolerance, Tolerances, Values, differences, interval
from checks.policy.reading import WrongUsage
from model.balance.simulation.measures import MEASURES, Measure
from traces.comparison import compare as compare_module
from traces.comparison.comparison import Comparison, Contender

LESS, NEITHER = MEASURES["returns"], MEASURES["splits"]
ROOT = Path(__file__).parents[2]
SNAPSHOT = ROOT / "docs" / "examples" / "policy" / "restarted.json"

# --- statistics


def values(*numbers: float) -> Values:
    return np.array(numbers, dtype=np.float64)


def one(baseline: Values, proposed: Values, measure: Measure = LESS, tolerances: Tolerances | None = None) -> Difference:
    pairs = {measure.name: baseline}, {"new": {measure.name: proposed}}
    (found,) = differences([measure], *pairs, tolerances or Tolerances())
    return found


def test_the_interval_is_students() -> None:
    low, high = interval(np.arange(1.0, 11.0), 0.05)
    assert (low, high) == (pytest.approx(5.5 - 2.16585), pytest.approx(5.5 + 2.16585))
    assert all(map(math.isnan, interval(values(3.0), 0.05)))


def test_ten_pairs_are_the_fewest_of_which_all_on_one_side_mean_something() -> None:
    by_chance = 0.05 / len(MEASURES)
    assert 2 * 0.5**FEWEST <= by_chance < 2 * 0.5 ** (FEWEST - 1)


@pytest.mark.parametrize(
    ("apart", "measure", "verdict"),
    [
        ([1.0, 2.0] * 10, LESS, "worse"),
        ([-1.0, -2.0] * 10, LESS, "better"),
        ([1.0, 2.0] * 10, NEITHER, "differs"),
        ([-1.0, -2.0] * 10, NEITHER, "differs"),
        ([1.0, -1.0] * 10, LESS, "no difference"),
        ([0.0] * 20, LESS, "no difference"),
        ([0.4, 0.6] * 10, LESS, "no difference"),
        ([-0.4, -0.6] * 10, LESS, "no difference"),
        ([5.0] * 9, LESS, "too few runs"),
        ([5.0] * 10, LESS, "worse"),
    ],
)
def test_verdicts(apart: list[float], measure: Measure, verdict: str) -> None:
    baseline = np.full(len(apart), 20.0)
    assert one(baseline, baseline + apart, measure).verdict == verdict


def test_what_is_told_of_a_difference() -> None:
    found = one(values(*[4.0] * 10, math.nan), values(*[5.0] * 4, *[4.0] * 3, *[3.0] * 2, 9.0, 7.0))
    assert (found.pairs, found.baseline, found.proposed, found.difference) == (10, 4.0, 4.7, pytest.approx(0.7))
    assert (found.lower, found.higher, found.worst, found.tolerance) == (2, 5, 9, pytest.approx(0.2))
    assert (found.verdict, found.may_be_worse) == ("no difference", True)
    assert one(values(*[4.0] * 10), values(*[3.0] * 10)).worst is None


def test_tolerances_are_of_a_measure_or_of_all() -> None:
    baseline, proposed = np.full(10, 20.0), np.full(10, 23.0)
    for tolerance, verdict in ((Tolerance(3.0, False), "no difference"), (Tolerance(0.1, True), "worse")):
        assert one(baseline, proposed, tolerances=Tolerances(tolerance)).verdict == verdict
        assert one(baseline, proposed, tolerances=Tolerances(named={LESS.name: tolerance})).verdict == verdict
    assert one(baseline, proposed, tolerances=Tolerances(named={"splits": Tolerance(9.0, False)})).verdict == "worse"


def test_a_measure_that_no_pair_has_is_left_out() -> None:
    never_both = {LESS.name: values(1.0, math.nan)}, {"new": {LESS.name: values(math.nan, 1.0)}}
    assert differences([LESS], *never_both, Tolerances()) == []


def test_all_intervals_hold_together() -> None:
    """Of many comparisons in which no policy differs, not more than one in twenty may show any difference."""
    measures = list(MEASURES.values())
    random = np.random.default_rng(1)
    exact = Tolerances(Tolerance(0.0, False))
    wrong = 0
    for _ in range(200):
        worlds = random.exponential(size=(len(measures), 40))
        first, second = ({m.name: w + random.normal(size=40) for m, w in zip(measures, worlds, strict=True)} for _ in range(2))
        wrong += any(d.verdict != "no difference" for d in differences(measures, first, {"new": second}, exact))
    assert 0 < wrong <= 0.08 * 200


def test_pairs_show_what_means_would_not() -> None:
    """The worlds differ by far more than the policies: only the differences of pairs tell them apart."""
    worlds = np.random.default_rng(2).normal(100, 30, 30)
    assert one(worlds, worlds + 1, tolerances=Tolerances(Tolerance(0.0, False))).verdict == "worse"


# --- the policies


def test_policies_are_named_by_parts(tmp_path: Path) -> None:
    conf, policy = tmp_path / "broker.conf", tmp_path / "mine.py"
    conf.write_text("loadBalancerBrokerThresholdShedderPercentage=7\n")
    policy.write_text("def shed(load, conf): return {}\ndef place(bundle, candidates, load, conf): return candidates\n")
    names = ["AvgShedder", f"{policy}:shed,RoundRobinBrokerSelector", f"{conf}, UniformLoadShedder, {policy}:place", "defaults"]
    (baseline, *others), notes = contenders(str(conf), names, "current")
    assert (baseline.name, notes) == (str(conf), [])
    told = [changes(baseline.manager, other.manager) for other in others]
    assert told[0] == [
        ("shedder", "ThresholdShedder", "AvgShedder"),
        ("placement", "LeastLongTermMessageRate", "AvgShedder"),
    ]
    assert [after for _, _, after in told[1]] == [f"{policy}:shed", "RoundRobinBrokerSelector"]
    assert [after for _, _, after in told[2]] == ["UniformLoadShedder", f"{policy}:place"]
    assert told[3] == [("loadBalancerBrokerThresholdShedderPercentage", "7", "10")]


def test_a_policy_may_be_a_setting_and_may_have_a_name() -> None:
    names = ["maxUnloadPercentage=0.1", "calm=AvgShedder, minUnloadMessage=7,maxUnloadPercentage=0.4"]
    (baseline, one, two), _ = contenders("AvgShedder", names, "current")
    assert (one.name, two.name) == ("maxUnloadPercentage=0.1", "calm")
    assert changes(baseline.manager, one.manager) == [("maxUnloadPercentage", "0.2", "0.1")]
    assert [name for name, _, _ in changes(baseline.manager, two.manager)] == ["minUnloadMessage", "maxUnloadPercentage"]


@pytest.mark.parametrize("name", ["AvgShedder,OverloadShedder", "a.conf,b.conf", "AvgShedder,AvgShedder"])
def test_a_policy_has_one_of_each(name: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="is one too many"):
        contenders(None, [name], "current")


def test_policies_differ() -> None:
    with pytest.raises(WrongUsage, match="AvgShedder is named more than once"):
        contenders(None, ["AvgShedder", "AvgShedder"], "current")


# --- the command


def asked(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    try:
        status = main(["policy", "compare", *map(str, arguments)])
    except SystemExit as end:
        status = int(end.code or 0)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def small(out: Path, *others: str | Path) -> Sequence[str | Path]:
    world = ("--brokers", "4", "--bundles", "16", "--topics-per-bundle", "4")
    return ("--out", out, *world, "--runs", "10", "--hours", "0.5", "--quiet", *others)


def test_a_policy_against_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, err = asked(capsys, *small(tmp_path / "out"), "--proposed", "ThresholdShedder", "--format", "json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert {row["verdict"] for row in told["measures"]} == {"no difference"}
    assert {row["difference"] for row in told["measures"]} == {0.0}
    assert all(row["worst_run"] is None for row in told["measures"])
    assert [policy["changes"] for policy in told["policies"]] == [{}, {}]


@pytest.fixture(scope="module")
def wandering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison in which the proposed configuration keeps bundles wandering, and its page."""
    folder = tmp_path_factory.mktemp("wandering")
    conf = folder / "proposed.conf"
    conf.write_text("lowerBoundarySheddingEnabled=true\n")
    ask = ["--proposed", conf, "--snapshot", SNAPSHOT, "--runs", "10", "--hours", "1", "--quiet", "--out", folder / "out"]
    assert main(["policy", "compare", *map(str, [*ask, "--report", folder / "page.html"])]) == 12
    return folder


def again(wandering: Path, *others: str | Path) -> Sequence[str | Path]:
    ask = ["--proposed", wandering / "proposed.conf", "--snapshot", SNAPSHOT, "--runs", "10", "--hours", "1", "--quiet"]
    return (*ask, "--out", wandering / "out", *others)


def test_what_gets_worse_is_found(capsys: pytest.CaptureFixture[str], wandering: Path) -> None:
    status, out, _ = asked(capsys, *again(wandering, "--format", "json"))
    told = json.loads(out)
    rows = {row["measure"]: row for row in told["measures"]}
    assert (status, told["status"], told["outcome"], told["runs"]) == (12, 12, "complete", 10)
    assert rows["unloads_per_hour"]["verdict"] == "worse"
    assert rows["imbalance"]["verdict"] == "no difference"
    assert "time_to_fill" not in rows
    low, high = rows["unloads_per_hour"]["interval"]
    assert 0 < low < rows["unloads_per_hour"]["difference"] < high
    changed = told["policies"][1]["changes"]
    assert changed == {"lowerBoundarySheddingEnabled": {"baseline": "false", "proposed": "true"}}
    table = pq.read_table(told["file"])
    means = {name: table.filter(np.arange(20) % 2 == place)["unavailable"].to_numpy().mean() for place, name in enumerate("ab")}
    row = rows["unavailable"]
    assert (row["baseline"], row["proposed"]) == (pytest.approx(means["a"]), pytest.approx(means["b"]))


def test_the_worst_run_is_the_worst_and_is_written_down(capsys: pytest.CaptureFixture[str], wandering: Path) -> None:
    told = json.loads(asked(capsys, *again(wandering, "--format", "json"))[1])
    row = next(row for row in told["measures"] if row["measure"] == "unloads_per_hour")
    unloads = pq.read_table(told["file"])["unloads_per_hour"].to_numpy()
    assert row["worst_run"]["run"] == int(np.argmax(unloads[1::2] - unloads[::2]))
    trace = Path(row["worst_run"]["file"]).read_text()
    assert re.search(rf"^run {row['worst_run']['run']} of 10, noisy-rates, 1 h, seed {row['worst_run']['seed']}$", trace, re.M)
    after, before = trace.split(f"\n\n{wandering / 'proposed.conf'}: ")[1].split("\n\ndefaults: ")
    hourly = (unloads[1::2][row["worst_run"]["run"]], unloads[::2][row["worst_run"]["run"]])
    assert (after.count("  unload  "), before.count("  unload  ")) == hourly


def test_nothing_is_made_again(
    capsys: pytest.CaptureFixture[str], wandering: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = asked(capsys, *again(wandering))[1]
    monkeypatch.setattr(compare_module, "row", None)
    assert asked(capsys, *again(wandering))[1] == before
    assert "worse in unloads_per_hour" in before.splitlines()[0]
    assert before.splitlines()[-1] == "(exit 12)"


def test_what_is_tolerated_is_no_failure(capsys: pytest.CaptureFixture[str], wandering: Path) -> None:
    any_more = [f"--tolerance={name}=inf" for name in ("unloads_per_hour", "most_unloads", "unavailable")]
    status, out, _ = asked(capsys, *again(wandering, *any_more, "--tolerance", "topics_moved=1000%"))
    assert status == 0
    assert "worse in" not in out
    assert asked(capsys, *again(wandering, *any_more, "--tolerance", "0", "--strict"))[0] == 12


def test_strictly_what_may_be_worse_is_not_good_enough(capsys: pytest.CaptureFixture[str], wandering: Path) -> None:
    tolerant = [f"--tolerance={name}=inf" for name in MEASURES if name != "imbalance"] + ["--tolerance", "imbalance=0"]
    lenient, out, _ = asked(capsys, *again(wandering, *tolerant))
    strict, _, _ = asked(capsys, *again(wandering, *tolerant, "--strict"))
    assert (lenient, strict) == (0, 20)
    assert f"not excluded yet: {wandering / 'proposed.conf'} worse than tolerated in imbalance\n" in out


def test_the_page_stands_alone(wandering: Path) -> None:
    page = (wandering / "page.html").read_text(encoding="utf-8")
    body = page.split("<main>")[1]
    assert body.index("worse in unloads_per_hour") < body.index("<svg")
    assert not re.search(r"<script|<link|<img|@import|url\((?!#)|src=|href=\"(?!#)", page)
    assert "#0101" not in page
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 2 + 2 * 3
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    named = set(re.findall(r"var\(--([a-z0-9-]+)\)", page))
    day, night = page.split("@media (prefers-color-scheme:dark)")
    assert all(f"--{name}:" in day for name in named)
    assert all(f"--{name}:" in night.split("body {")[0] for name in named)


def test_the_same_comparison_gives_the_same_page(capsys: pytest.CaptureFixture[str], wandering: Path, tmp_path: Path) -> None:
    asked(capsys, *again(wandering, "--report", tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_bytes() == (wandering / "page.html").read_bytes()


def test_several_policies_are_one_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ask = small(tmp_path / "out", "--proposed", "OverloadShedder", "--proposed", "UniformLoadShedder", "--hours", "0.2")
    page = tmp_path / "sub" / "page.html"
    _, out, err = asked(capsys, *ask, "--report", page)
    assert err == f"report: {page}\n"
    lines = out.splitlines()
    assert [line.split(" against ")[0] for line in lines[:2]] == ["OverloadShedder", "UniformLoadShedder"]
    row = next(place for place, line in enumerate(lines) if line.startswith("imbalance"))
    assert [line.split()[0] for line in lines[row + 1 : row + 3]] == ["OverloadShedder", "UniformLoadShedder"]
    assert "OverloadShedder: the differences" in page.read_text()


def test_too_few_runs_decide_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = asked(capsys, *small(tmp_path), "--runs", "1", "--proposed", "UniformLoadShedder")
    assert status == 20
    assert "with fewer than 10 runs that have a measure, nothing is said of it" in out


def test_interrupted_it_keeps_what_is_complete(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def row(*arguments: Any) -> Any:
        made.append(arguments)
        if len(made) == 17:
            signal.raise_signal(signal.SIGINT)
        return real(*arguments)

    real = compare_module.row
    monkeypatch.setattr(compare_module, "row", row)
    ask = [*small(tmp_path, "--proposed", "UniformLoadShedder"), "--tolerance", "inf"]
    status, out, err = asked(capsys, *ask)
    assert status == 20
    assert "interrupted: the runs that are complete are kept" in out
    assert "8 of 10 runs" in out
    assert "stopping" in err
    status, out, _ = asked(capsys, *ask)
    assert status == 0
    assert "interrupted:" not in out
    assert len(made) == 17 + 4


def test_interrupted_at_once_it_has_nothing_to_say(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def row(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(compare_module, "row", row)
    ask = small(tmp_path / "out", "--proposed", "UniformLoadShedder", "--report", tmp_path / "page.html")
    status, out, _ = asked(capsys, *ask)
    assert status == 20
    assert out.startswith("UniformLoadShedder against defaults: nothing to compare: no run is complete\n")
    assert "nothing to compare" in (tmp_path / "page.html").read_text()
    assert json.loads(asked(capsys, *ask, "--format", "json")[1])["measures"] == []


@pytest.mark.deep
def test_interrupted_on_spark_it_keeps_what_is_complete(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ask = [*small(tmp_path / "spark", "--proposed", "UniformLoadShedder"), "--runs", "100"]
    words = [sys.executable, "-m", "checks.cli", "policy", "compare", *map(str, ask), "--master", "local[1]"]
    running = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    while not (tmp_path / "spark" / "rounds" / "round=00000" / "_SUCCESS").exists():
        assert running.poll() is None
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=300)
    assert "interrupted: the runs that are complete are kept" in out
    again = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    assert (running.returncode, again.returncode, again.stderr) == (20, 0, b"")
    asked(capsys, *small(tmp_path / "here", "--proposed", "UniformLoadShedder"), "--runs", "100", "--master", "local[2]")
    assert (tmp_path / "spark" / "runs.parquet").read_bytes() == (tmp_path / "here" / "runs.parquet").read_bytes()


def test_a_fault_is_kept_with_its_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    policy = tmp_path / "late.py"
    body = "    rounds = memory or 0\n    return {1 // (19 - rounds): []}, rounds + 1\n"
    policy.write_text(f"def shed(load, conf, memory):\n{body}")
    status, out, err = asked(capsys, *small(tmp_path / "out"), "--proposed", f"{policy}:shed")
    kept = tmp_path / "out" / "fault.json"
    assert (status, out) == (75, "")
    told = f"fencepost: {policy}:3: ZeroDivisionError: integer division or modulo by zero"
    assert err.splitlines() == [told, f"  asked with {kept}; it remembered 19", f"  in run 0 of {policy}:shed"]
    assert main(["policy", "decide", "--snapshot", str(kept), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rounds"][0]["usage"]) == 4


def test_a_policy_that_draws_lots_is_found_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    policy = tmp_path / "dice.py"
    policy.write_text("import random\ndef place(bundle, candidates, load, conf):\n    return random.choice(candidates)\n")
    ask = small(tmp_path / "out", "--scenario", "restart", "--hours", "1")
    status, out, err = asked(capsys, *ask, "--proposed", f"{policy}:place")
    assert (status, out) == (75, "")
    assert "is not a function of what it is handed; look for chance, clocks" in err


def test_a_violation_of_the_protocols_is_never_tolerated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def row(comparison: Comparison, run: int, contender: Contender) -> dict[str, Any]:
        return {**real(comparison, run, contender), "violations": int(run == 6 and contender.name == "OverloadShedder")}

    real = compare_module.row
    monkeypatch.setattr(compare_module, "row", row)
    status, out, _ = asked(capsys, *small(tmp_path, "--proposed", "OverloadShedder", "--hours", "0.1", "--tolerance", "inf"))
    assert status == 12
    assert "violates the protocols in 1 runs, first in run 6" in out


def test_few_runs_need_no_spark(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "spark_session", None)
    ask = [*small(tmp_path, "--proposed", "UniformLoadShedder"), "--hours", "0.1", "--runs"]
    assert asked(capsys, *ask, str(command.FEW_RUNS))[0] in (0, 12)
    with pytest.raises(TypeError, match="not callable"):
        asked(capsys, *ask, "21", "--out", tmp_path / "other")


# --- wrong usage


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--proposed", "absent.conf"], 150, "absent.conf: there is no such file"),
        (["--proposed", "absent.py:shed"], 150, "absent.py: there is no such file"),
        (["--proposed", "AvgShedder", "--baseline", "AvgShedder"], 2, "AvgShedder is named more than once"),
        (["--proposed", "minUnloadMessage=few"], 150, "minUnloadMessage = 'few' is not a whole number"),
        (["--proposed", "AvgShedder", "--tolerance", "much"], 2, "'much' is no amount; write 10%, or 3, or inf for any"),
        (["--proposed", "AvgShedder", "--tolerance", "-1"], 2, "'-1' is no amount"),
        (["--proposed", "AvgShedder", "--tolerance", "balance=3"], 2, "(did you mean imbalance?); there is imbalance, "),
        (["--proposed", "AvgShedder", "--scenario", "flood"], 2, "there is no scenario 'flood'; there is\n  steady"),
        (["--proposed", "AvgShedder", "--snapshot", "x.json", "--brokers", "3"], 2, "--brokers is of a generated cluster"),
        (["--proposed", "AvgShedder", "--snapshot", "absent.json"], 150, "absent.json: there is no such file"),
        (["--proposed", "AvgShedder", "--hours", "0"], 2, "'0' is not a time in hours, from a minute to 10000"),
        (["--proposed", "AvgShedder", "--runs", "0"], 2, "'0' is not a whole number from 1 on"),
        (["--proposed", "AvgShedder", "--seed", "-1"], 2, "'-1' is not a whole number from 0 on"),
        (["--proposed", "AvgShedder", "--confidence", "95"], 2, "'95' is not between 0 and 1"),
        (["--proposed", "AvgShedder", "--load", "none"], 2, "'none' is not a percentage above 0"),
        ([], 2, "required: --proposed"),
    ],
)
def test_wrong_usage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], status: int, said: str
) -> None:
    found, out, err = asked(capsys, "--out", tmp_path / "out", *arguments)
    assert (found, out) == (status, "")
    assert said in err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else(capsys: pytest.CaptureFixture[str], tmp_path: Path, wandering: Path) -> None:
    (tmp_path / "letters").write_text("")
    status, out, err = asked(capsys, *small(tmp_path, "--proposed", "AvgShedder"))
    assert (status, out) == (150, "")
    assert "is not empty and holds no run: name another folder" in err
    status, _, err = asked(capsys, *again(wandering, "--seed", "1"))
    assert status == 150
    assert "belongs to another run (seed is 0 there, 1 here)" in err


def test_a_snapshot_of_which_no_cluster_can_be_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    whole, half = "n/s/0x00000000_0xffffffff", "n/s/0x00000000_0x80000000"
    (tmp_path / "s.json").write_text(json.dumps({"brokers": {"b1": {"bundles": [whole]}, "b2": {"bundles": [half]}}}))
    status, _, err = asked(capsys, "--out", tmp_path / "out", "--proposed", "AvgShedder", "--snapshot", tmp_path / "s.json")
    assert status == 150
    assert err.startswith(f"fencepost: {tmp_path / 's.json'}: the bundles of n/s overlap: ")


# --- the reference


def test_every_option_and_measure_is_in_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    reference = (ROOT / "docs" / "reference" / "comparison.md").read_text(encoding="utf-8")
    options = set(re.findall(r"--[a-z][a-z-]*", asked(capsys, "--help")[1])) - {"--help"}
    assert len(options) > 10
    assert {option for option in options if f"`{option}" not in reference} == set()
    assert {m.name for m in MEASURES.values() if f"| `{m.name}` | {m.unit} |" not in reference} == set()


def test_every_field_of_the_json_is_in_the_reference(capsys: pytest.CaptureFixture[str], wandering: Path) -> None:
    reference = (ROOT / "docs" / "reference" / "comparison.md").read_text(encoding="utf-8")
    told = json.loads(asked(capsys, *again(wandering, "--format", "json"))[1])
    names = {*told, *told["policies"][0], *told["measures"][0], *told["measures"][0]["worst_run"]}
    assert {name for name in names if f"`{name}`" not in reference} == set()
