"""Releases: which there are, what they ship, and what is told of a mistake in them."""

from __future__ import annotations

import pytest

from fencepost.model.releases import BOOKKEEPER, NEWEST, PULSAR, History, ReleaseError, Releases, changed


def test_what_is_not_named_follows() -> None:
    assert Releases.of() == Releases(NEWEST, PULSAR[NEWEST])
    assert Releases.of("4.0.8") == Releases("4.0.8", "4.17.2")
    assert Releases.of("4.0.8", "4.18.0") == Releases("4.0.8", "4.18.0")
    assert Releases.of(bookkeeper="4.14.5") == Releases(NEWEST, "4.14.5")
    assert str(Releases.of("5.0.0-M1")) == "Pulsar 5.0.0-M1 with BookKeeper 4.18.0"


def test_what_a_release_ships_is_modelled() -> None:
    assert set(PULSAR.values()) <= set(BOOKKEEPER)


def test_a_number_names_one_release() -> None:
    assert not set(PULSAR) & set(BOOKKEEPER)


def test_behaviour_that_changed_is_told_of_every_release() -> None:
    told = changed("leads", since="4.0.8", before="confirmed", after="created")
    assert list(told) == list(PULSAR)
    assert [value["leads"] for value in told.values()] == ["confirmed"] * 2 + ["created"] * 3


@pytest.mark.parametrize(("pulsar", "bookkeeper"), [("4.0.9", None), (None, "4.18.2")])
def test_a_release_that_is_not_modelled_is_refused(pulsar: str | None, bookkeeper: str | None) -> None:
    with pytest.raises(ReleaseError, match=f"{pulsar or bookkeeper} is not modelled; there is "):
        Releases.of(pulsar, bookkeeper)


def test_a_hazard_is_a_mistake_that_the_release_has() -> None:
    history = History("bookkeeper", since="4.15.1", present=("4.16.6", "4.17.2"))
    assert history.is_hazard(Releases.of("4.0.8"))
    assert not history.is_hazard(Releases.of("5.0.0-M1"))
    assert (history.ending, history.modelled) == ("open", BOOKKEEPER)
    assert History("pulsar", since="2.8.0", fixed="2.9.0").ending == "2.9.0"
    assert History("pulsar").ending == ""


def test_a_mistake_of_some_values_does_not_fit_others() -> None:
    of_db = History("bookkeeper", only={"storage": ("db", "sorted")})
    assert of_db.fits({"storage": "sorted", "entries": 1})
    assert not of_db.fits({"storage": "interleaved"})
    assert of_db.fits({"entries": 1}), "an instance that does not tell them apart"
    assert History("bookkeeper").fits({"storage": "interleaved"})
