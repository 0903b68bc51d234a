"""Baselines: what is accepted does not fail, what is new or gone does, and a file keeps the reasons that people write."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.engines.results.findings import Checked, Findings
from fencepost.checks.engines.results.verdicts import ExitStatus, Value, Verdict, exit_status
from fencepost.checks.questions.baseline import Baseline, BaselineError, Doubt, Key, comparison_lines, keys_of
from fencepost.model.language import Location, Protocol
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.vocabulary import Kind, Property, Suite

HERE = Location(__file__, 1)
DOOR = Entry(
    name="door",
    summary="a door",
    function=lambda **_: Protocol("door"),
    suite=Suite,
    sizes={"ci": (Instance("usual", {}),)},
)
RELEASE = "Pulsar 4.0.8 with BookKeeper 4.17.2"
AJAR = Key("door", "known bug of Pulsar 4.0.8", "ajar", "known bug", RELEASE)
HINGE = Key("door", "usual", "hinge", "never-met", RELEASE)
LATCH = Key("door", "", "latch", "never-broken", RELEASE)
DOUBTS = [
    Doubt("door", "", Suspicion("never-broken", "latch", "no mutant violates latch", HERE), strict=False),
    Doubt("door", "usual", Suspicion("never-met", "hinge", "the premise of hinge is never met", HERE), strict=False),
]
ALL = {AJAR: "", HINGE: "", LATCH: ""}


def checked(instance: str, name: str, kind: Kind, verdict: Value, strict: str = "") -> Checked:
    prop = Property(name, kind, None, "what it says", HERE, strict)
    findings = Findings((Verdict(prop, verdict, "exhaustive"),))
    return Checked.of(DOOR, Instance(instance, {}), Protocol("door"), findings)


BUG = checked("known bug of Pulsar 4.0.8", "ajar", "known bug", "known bug")
CONTROL = checked("usual", "shut", "always", "violated", "doors open")
RUN = [CONTROL, BUG]


def test_what_can_be_accepted() -> None:
    broken, unknown = checked("usual", "still", "always", "violated"), checked("usual", "shut", "always", "inconclusive")
    fine = checked("usual", "fine", "always", "exhausted")
    assert keys_of([*RUN, broken, unknown, fine], DOUBTS, RELEASE) == set(ALL)


def test_what_is_accepted_does_not_fail() -> None:
    baseline = Baseline({AJAR: "we live with it"})
    applied = baseline.applied(BUG, RELEASE)
    assert exit_status(BUG.verdicts) is ExitStatus.KNOWN_BUG
    assert exit_status(applied.verdicts) is ExitStatus.HOLDS
    assert applied.verdicts[0].accepted == "we live with it"
    broken = checked("usual", "ajar", "always", "violated")
    accepts_it = Baseline({Key("door", "usual", "ajar", "violated", RELEASE): "never mind"})
    assert exit_status(accepts_it.applied(broken, RELEASE).verdicts) is ExitStatus.SAFETY


def test_a_suspicion_that_is_not_accepted_fails() -> None:
    assert [doubt.strict for doubt in Baseline({LATCH: ""}).judged([replace(DOUBTS[0], strict=True)], RELEASE)] == [False]
    assert [doubt.strict for doubt in Baseline({}).judged(DOUBTS[:1], RELEASE)] == [True]


def test_nothing_new_and_nothing_gone() -> None:
    same = Baseline(ALL | {AJAR: "why"}).compared(RUN, DOUBTS, RELEASE, whole=True)
    assert (same.new, same.gone, same.unchecked, same.differs) == ((), (), 0, False)
    assert same.unexplained == (LATCH, HINGE)
    assert comparison_lines(same) == [
        "baseline: without a reason: door: latch (never-broken)",
        "baseline: without a reason: door, usual: hinge (never-met)",
    ]


def test_many_lines_without_a_reason_are_counted() -> None:
    many = tuple(Key("door", "usual", f"hinge {n}", "never-met", RELEASE) for n in range(57))
    same = replace(Baseline(ALL | {AJAR: "why"}).compared(RUN, DOUBTS, RELEASE, whole=True), unexplained=many)
    assert comparison_lines(same) == [
        "baseline: 57 findings without a reason: write who accepts each, and why",
    ]


@pytest.mark.parametrize("key", ALL, ids=str)
def test_what_is_new(key: Key) -> None:
    rest = {other: "why" for other in ALL if other != key}
    comparison = Baseline(rest).compared(RUN, DOUBTS, RELEASE, whole=True)
    assert (comparison.new, comparison.gone, comparison.differs) == ((key,), (), True)
    assert comparison_lines(comparison) == [f"baseline: new: {key}"]


def test_what_is_accepted_of_another_release_is_accepted() -> None:
    """An upgrade shows what it brings, and not everything again."""
    former = "Pulsar 3.0.7 with BookKeeper 4.16.6"
    elsewhere = Key("door", "known bug of Pulsar 3.0.7", "ajar", "known bug", former)
    fixed = Key("door", "known bug of Pulsar 3.0.7", "closes", "known bug", former)
    new = checked("known bug of Pulsar 4.0.8", "jams", "known bug", "known bug")
    baseline = Baseline({elsewhere: "we live with it", fixed: "x"})
    assert baseline.applied(BUG, RELEASE).verdicts[0].accepted == "we live with it"
    comparison = baseline.compared([*RUN, new], [], RELEASE, whole=True)
    assert (comparison.gone, comparison.unchecked, comparison.carried) == ((), 1, 1)
    assert comparison_lines(comparison) == [
        "baseline: new: door, known bug of Pulsar 4.0.8: jams (known bug)",
        "baseline: 1 finding accepted of another release, and so of this one",
        "baseline: 1 of its verdicts were not checked here",
    ]
    assert baseline.updated({AJAR}, gone=()).reasons == baseline.reasons


def test_what_is_gone() -> None:
    closes = Key("door", "known bug of Pulsar 4.0.8", "closes", "known bug", RELEASE)
    opens = Key("door", "usual", "opens", "never-met", RELEASE)
    baseline = Baseline(ALL | {closes: "", opens: ""})
    comparison = baseline.compared(RUN, DOUBTS, RELEASE, whole=True)
    assert (comparison.new, comparison.gone, comparison.differs) == ((), (closes, opens), True)
    assert comparison_lines(comparison)[0] == "baseline: gone: door, known bug of Pulsar 4.0.8: closes (known bug)"
    cut_short = baseline.compared(RUN, DOUBTS, RELEASE, whole=False)
    assert (cut_short.gone, cut_short.unchecked) == ((), 2)


def test_what_was_not_checked_or_is_open_is_not_gone() -> None:
    elsewhere = Key("door", "large", "hinge", "never-met", RELEASE)
    window = Key("window", "known bug of Pulsar 4.0.8", "ajar", "known bug", RELEASE)
    comparison = Baseline({elsewhere: "", window: ""}).compared([CONTROL], [], RELEASE, whole=True)
    assert (comparison.gone, comparison.unchecked) == ((), 2)
    unknown = checked("known bug of Pulsar 4.0.8", "ajar", "known bug", "inconclusive")
    assert Baseline({AJAR: ""}).compared([unknown], [], RELEASE, whole=True).gone == ()
    settled = checked("known bug of Pulsar 4.0.8", "ajar", "known bug", "exhausted")
    assert Baseline({AJAR: ""}).compared([settled], [], RELEASE, whole=True).gone == (AJAR,)


def test_a_file_keeps_the_reasons(tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    Baseline({AJAR: "wir wissen «es»", HINGE: ""}).write(file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line.rstrip(","))["property"] for line in lines if '"property"' in line] == ["ajar", "hinge"]
    again = Baseline.read(file)
    assert again.reasons == {AJAR: "wir wissen «es»", HINGE: ""}
    assert again.updated({AJAR, LATCH}, gone=[HINGE]).reasons == {AJAR: "wir wissen «es»", LATCH: ""}
    again.write(tmp_path / "twice.json")
    assert (tmp_path / "twice.json").read_bytes() == file.read_bytes()
    Baseline({}).write(file)
    assert Baseline.read(file).reasons == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  "format": 2,\n  "accepted": [,]\n}', ":3: not JSON: "),
        ('{"format": 1, "accepted": []}', ": format 1 is not 2; write it again with --write-baseline"),
        ('{"format": 2}', ": is not a baseline; write one with --write-baseline"),
        ("[]", ": is not a baseline; "),
        ('{"format": 2, "accepted": [{"protocol": "door"}]}', ": is not a baseline; "),
        ('{"format": 2, "accepted": 1}', ": is not a baseline; "),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "accepted.json"
    file.write_text(text)
    with pytest.raises(BaselineError) as error:
        Baseline.read(file)
    assert str(error.value).startswith(f"{file}{message}")


def test_the_known_bugs_of_a_baseline_leave_the_count_of_ways_whatever_the_release() -> None:
    of_file = Baseline({replace(AJAR, release="another"): "waits for the upgrade"}, {"same_value": "one address each"})
    assert of_file.known_bugs == {AJAR.property: "waits for the upgrade", "same_value": "one address each"}
