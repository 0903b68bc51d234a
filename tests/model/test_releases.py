"""Releases: which there are, what they ship, and what a reading says of them."""

from __future__ import annotations

import pytest

from fencepost.model.releases import (
    BOOKKEEPER,
    NEWEST,
    PULSAR,
    RANGES,
    Reading,
    ReleaseError,
    Releases,
    changed,
    followed,
    held,
    is_since,
    reading,
    release,
)


def test_what_is_not_named_follows() -> None:
    assert Releases.of() == Releases(NEWEST, PULSAR[NEWEST])
    assert Releases.of("4.0.8") == Releases("4.0.8", "4.17.2")
    assert Releases.of("4.0.8", "4.18.0") == Releases("4.0.8", "4.18.0", client="4.17.2")
    assert Releases.of(bookkeeper="4.14.5") == Releases(NEWEST, "4.14.5", client="4.14.5")
    assert Releases.of("4.0.8", client="4.18.0") == Releases("4.0.8", "4.17.2", client="4.18.0")
    assert str(Releases.of("4.0.8", "4.18.0")) == "Pulsar 4.0.8 with BookKeeper 4.18.0 (its client 4.17.2)"
    assert str(Releases.of("5.0.0-M1")) == "Pulsar 5.0.0-M1 with BookKeeper 4.18.0"


def test_what_a_release_ships_is_modelled() -> None:
    assert set(PULSAR.values()) <= set(BOOKKEEPER)


def test_a_number_names_one_release() -> None:
    assert not set(PULSAR) & set(BOOKKEEPER)


def test_behaviour_that_changed_is_told_of_every_release() -> None:
    behaviour = changed("leads", since="4.0.8", before="confirmed", after="created")
    assert list(behaviour) == list(PULSAR)
    assert [value["leads"] for value in behaviour.values()] == ["confirmed"] * 2 + ["created"] * (len(PULSAR) - 2)


@pytest.mark.parametrize(("pulsar", "bookkeeper"), [("1.22.0", None), (None, "4.0.0"), ("newest", None)])
def test_a_release_that_is_not_modelled_is_refused(pulsar: str | None, bookkeeper: str | None) -> None:
    with pytest.raises(ReleaseError, match=f"{pulsar or bookkeeper} is not modelled; there are "):
        Releases.of(pulsar, bookkeeper)


def test_a_release_that_nobody_has_read_is_answered_by_the_one_before_it() -> None:
    newest = Releases.of()
    later = Releases.of("99.0.0")
    assert later == newest
    (line,) = later.instead
    assert line.startswith(f"Pulsar 99.0.0 was read by nobody: the answers are those of {newest.pulsar}, ")
    assert line.endswith(f"; fencepost releases diff {newest.pulsar} 99.0.0 tells what to read")
    assert Releases.of("4.1.4-SNAPSHOT").pulsar == "4.0.8"
    assert Releases.of("5.0.1", "4.18.3").instead[0].startswith("BookKeeper 4.18.3 was read by nobody")
    assert Releases.of("5.0.1").instead == ()


def test_a_reading_names_releases_and_ranges() -> None:
    assert reading("pulsar", "3.0.7, 4.0.8, 5.0.0-M1, not 2.10.1, 4.2.4") == Reading(
        ("3.0.7", "4.0.8", "5.0.0-M1"), ("2.10.1", "4.2.4")
    )
    assert reading("bookkeeper", "4.16.6 to 4.17.3, not 4.14.5") == Reading(("4.16.6", "4.17.2", "4.17.3"), ("4.14.5",))
    assert reading("bookkeeper", "not 4.14.5 to 4.18.2") == Reading((), RANGES["bookkeeper"])
    assert reading("bookkeeper", "") == Reading()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("4.2.5", "'4.2.5' names 4.2.5, which is none of 2.10.1, "),
        ("4.0.8 to 4.3", "'4.0.8 to 4.3' names 4.3, which is none of 2.10.1, "),
        ("4.14.5", "'4.14.5' names 4.14.5, which is none of 2.10.1, "),
        ("3.0.7 to 4.2.4, not 4.0.8", "'3.0.7 to 4.2.4, not 4.0.8' names 4.0.8 twice"),
    ],
)
def test_a_reading_that_cannot_be_is_refused(text: str, what: str) -> None:
    with pytest.raises(ReleaseError) as error:
        reading("pulsar", text)
    assert str(error.value).startswith(what)


def test_ranges_reach_over_releases_of_the_table_in_its_order() -> None:
    for project, table in (("pulsar", tuple(PULSAR)), ("bookkeeper", BOOKKEEPER)):
        assert [number for number in table if number in RANGES[project]] == list(RANGES[project])


def test_a_release_is_since_itself_and_what_is_before() -> None:
    assert is_since("4.0.8", "4.0.8")
    assert is_since("5.0.0-M1", "4.0.8")
    assert not is_since("3.0.7", "4.0.8")
    assert is_since("4.18.0", "4.17.2")


def test_what_is_held_against_real_code_begins_with_the_usual_release() -> None:
    assert held("pulsar", "4.2.4") == ("4.2.4", "4.0.8", "5.0.0-M1", "5.0.1")
    assert held("bookkeeper", "4.18.0") == ("4.18.0", "4.17.2", "4.17.3", "4.18.2")


def test_a_row_by_its_number() -> None:
    assert (release("4.0.8").bookkeeper, release("4.0.8").zookeeper) == ("4.17.2", "3.9.4")
    with pytest.raises(ReleaseError, match=r"9 is not modelled; there are 2\.10\.1"):
        release("9")


@pytest.mark.parametrize(
    ("project", "number", "release"),
    [
        ("pulsar", "4.2.4", "4.2.4"),
        ("pulsar", "4.2.5-SNAPSHOT", "4.2.4"),
        ("pulsar", "4.2.4-SNAPSHOT", "4.0.8"),
        ("pulsar", "4.2.4-local", "4.2.4"),
        ("pulsar", "5.0.0-M2", "5.0.0-M1"),
        ("pulsar", "5.0.1-SNAPSHOT", "5.0.0-M1"),
        ("pulsar", "2.9.1", "2.10.1"),
        ("bookkeeper", "4.18.99-local", "4.18.2"),
        ("bookkeeper", "4.17.3", "4.17.3"),
        ("kafka", "2.1.2", "2.1.1"),
    ],
)
def test_a_build_goes_with_the_release_that_it_follows(project: str, number: str, release: str) -> None:
    assert followed(project, number) == release
