"""What verdicts mean for the exit status: nothing that was cut short, unseen or vacuous counts as success."""

import pytest

from fencepost.checks.engines.results.verdicts import ExitStatus, Value, Verdict, exit_status, reached, unreached
from fencepost.model.language import Location
from fencepost.properties.vocabulary import Kind, Property


def prop(kind: Kind = "always", strict: str = "") -> Property:
    return Property("p", kind, None, "Something.", Location("here.py", 1), strict)


def test_the_statuses_are_those_of_tlc_and_five_of_our_own() -> None:
    assert {s.name: s.value for s in ExitStatus} == {
        "HOLDS": 0,
        "USAGE": 2,
        "ASSUMPTION": 10,
        "DEADLOCK": 11,
        "SAFETY": 12,
        "LIVENESS": 13,
        "KNOWN_BUG": 14,
        "WEAKER": 15,
        "SHORT": 16,
        "INCONCLUSIVE": 20,
        "EVALUATION": 75,
        "INPUT": 150,
        "SYSTEM": 153,
    }


@pytest.mark.parametrize("value", ["proved", "exhausted", "sampled"])
@pytest.mark.parametrize("kind", ["always", "step", "deadlock"])
def test_what_holds_as_far_as_it_was_checked(kind: Kind, value: Value) -> None:
    assert exit_status([Verdict(prop(kind), value, "engine")]) == ExitStatus.HOLDS


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("always", ExitStatus.SAFETY),
        ("step", ExitStatus.SAFETY),
        ("deadlock", ExitStatus.DEADLOCK),
        ("sometimes", ExitStatus.ASSUMPTION),
    ],
)
def test_what_is_violated(kind: Kind, status: ExitStatus) -> None:
    assert exit_status([Verdict(prop(kind), "violated", "engine")]) == status


def test_inconclusive_is_no_success() -> None:
    assert exit_status([Verdict(prop(), "proved", "x"), Verdict(prop(), "inconclusive", "x")]) == ExitStatus.INCONCLUSIVE


def test_a_run_without_verdicts_is_no_success() -> None:
    assert exit_status([]) == ExitStatus.EVALUATION


def test_the_severest_counts() -> None:
    several = [
        Verdict(prop("sometimes"), "violated", "x"),
        Verdict(prop(), "inconclusive", "x"),
        Verdict(prop("deadlock"), "violated", "x"),
    ]
    assert exit_status(several) == ExitStatus.DEADLOCK
    assert exit_status([*several, Verdict(prop(), "violated", "x")]) == ExitStatus.SAFETY


def test_a_negative_control_is_expected_to_be_violated() -> None:
    control = prop(strict="readers may see what is lost")
    violated = Verdict(control, "violated", "x")
    assert violated.expected
    assert not Verdict(prop(), "violated", "x").expected
    assert exit_status([violated]) == ExitStatus.HOLDS


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("proved", ExitStatus.ASSUMPTION),
        ("exhausted", ExitStatus.ASSUMPTION),
        ("sampled", ExitStatus.INCONCLUSIVE),
        ("inconclusive", ExitStatus.INCONCLUSIVE),
    ],
)
def test_a_negative_control_that_is_not_violated_is_no_success(value: Value, status: ExitStatus) -> None:
    assert exit_status([Verdict(prop(strict="why"), value, "x")]) == status


def test_one_witness_settles_what_is_sometimes_so() -> None:
    verdict = reached(prop("sometimes"), "walks", {"steps": 3}, "the run")
    assert (verdict.verdict, verdict.trace) == ("proved", "the run")
    assert exit_status([verdict]) == ExitStatus.HOLDS


@pytest.mark.parametrize(
    ("searched", "status"),
    [("exhausted", ExitStatus.ASSUMPTION), ("sampled", ExitStatus.INCONCLUSIVE)],
)
def test_only_a_search_of_everything_shows_that_something_is_never_so(searched: Value, status: ExitStatus) -> None:
    verdict = unreached(prop("sometimes"), searched, "engine", {})
    assert exit_status([verdict]) == status
    assert verdict.note
