"""Bugs: which releases have one, which nobody has read, and that what is known of each is consistent in itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from fencepost.model.releases import BOOKKEEPER, RANGES, ReleaseError, Releases, numbers
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS


def test_which_releases_have_a_bug() -> None:
    bug = Bug("bookkeeper", since="4.15.1", releases="4.16.6, 4.17.2, not 4.14.5, 4.17.3 to 4.18.2")
    assert bug.is_in(Releases.of("4.0.8"))
    assert not bug.is_in(Releases.of("5.0.0-M1"))
    assert (bug.ending, bug.modelled, bug.unread) == ("open", BOOKKEEPER, ())
    assert Bug("pulsar", since="2.8.0", fixed="2.9.0").ending == "2.9.0"
    assert Bug("pulsar").ending == ""


def test_a_release_that_is_not_named_is_unread() -> None:
    bug = Bug("bookkeeper", since="4.15.1", releases="4.16.6, not 4.14.5")
    assert bug.unread == ("4.17.2", "4.17.3", "4.17.4", "4.18.0", "4.18.2")
    assert bug.is_unread(Releases.of("4.2.4"))
    assert not bug.is_in(Releases.of("4.2.4"))
    assert not bug.is_unread(Releases.of("3.0.7"))


def test_a_release_of_another_project_is_refused() -> None:
    with pytest.raises(ReleaseError, match=r"names 4\.2\.4"):
        Bug("bookkeeper", releases="4.2.4")


def test_a_bug_of_some_values_does_not_fit_others() -> None:
    of_db = Bug("bookkeeper", only={"storage": ("db", "sorted")})
    assert of_db.fits({"storage": "sorted", "entries": 1})
    assert not of_db.fits({"storage": "interleaved"})
    assert of_db.fits({"entries": 1}), "an instance that does not tell them apart"
    assert Bug("bookkeeper").fits({"storage": "interleaved"})


def twice(by_protocol: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The names that two protocols have with different values."""
    by_name: dict[str, object] = {}
    return [
        f"{name} of {protocol}"
        for protocol, values in by_protocol.items()
        for name, value in values.items()
        if by_name.setdefault(name, value) != value
    ]


def of_releases(bug: Bug) -> Bug:
    """A bug without what depends on the protocol: its parameters, its properties and its harness."""
    own = {"shown_by": {}, "run": "", "held": False, "with_others": False, "out_of_reach": None}
    return replace(bug, regardless=(), harm="", only={}, applies="", **own)


def test_a_bug_of_several_protocols_has_one_text_and_one_origin() -> None:
    bugs = {name: {bug: of_releases(known) for bug, known in entry.bugs.items()} for name, entry in PROTOCOLS.items()}
    assert twice(bugs) == []
    assert twice({name: entry.outline({}).protocol.bugs for name, entry in PROTOCOLS.items()}) == []


def test_a_name_with_two_texts_is_seen() -> None:
    assert twice({"one": {"leaks": "water"}, "two": {"leaks": "oil"}}) == ["leaks of two"]
    assert twice({"one": {"leaks": "water"}, "two": {"leaks": "water"}}) == []


NOT_READ = {"topic": {"2.10.1", "3.0.7"}}
"""Releases in which nobody has read the classes of a protocol: every answer for them says so."""


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_ranges_reach_over_is_read_for_every_bug(name: str) -> None:
    unread = {each: {*bug.unread} & {*RANGES.get(bug.project, ())} for each, bug in PROTOCOLS[name].bugs.items()}
    unsaid = {each: releases for each, releases in unread.items() if releases - NOT_READ.get(name, set())}
    assert not unsaid, f"properties/{name}/bugs.toml: say in `releases` whether these releases have the bug: {unsaid}"


OWN = [entry for entry in PROTOCOLS.values() if not entry.of_parts]


@pytest.mark.parametrize(("protocol", "name"), [(entry.name, name) for entry in OWN for name in entry.bugs])
def test_what_is_known_of_a_bug_is_consistent(protocol: str, name: str) -> None:
    bug, line = PROTOCOLS[protocol].bugs[name], PROTOCOLS[protocol].outline({}).protocol.bugs[name]
    assert bug.evidence
    assert set(re.findall(r"#\d+|KAFKA-\d+|BOOKKEEPER-\d+", line)) <= set(bug.upstream)
    assert list(bug.present) == [release for release in numbers(bug.project) if release in bug.present]
    if bug.weakening:
        assert (bug.since, bug.fixed, bug.costs, bug.upstream, bug.present) == ("", "", "", (), ())
    assert not bug.present or (bug.since and bug.costs), "who may meet it is told what it costs"
    assert bug.present or bug.weakening or bug.fixed or bug.since or bug.upstream, "what nobody ever had is a weakening"
    fixed = {word.strip(",") for word in bug.fixed.partition(";")[0].split()}
    assert not set(bug.present) & fixed, "a release that fixes it does not have it"
