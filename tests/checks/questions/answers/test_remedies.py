"""What to change first: with which releases answers are searched, and which of them are named."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from fencepost.checks.questions.answers.remedies import answered_alike, candidates, first_of, tried
from fencepost.checks.questions.answers.ways import Answer, Way
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.settings.cluster_settings import Settings, read_settings
from fencepost.model.releases import BOOKKEEPER, PULSAR, Releases
from fencepost.properties.bugs import Bug
from tests.command import ROOT

NOW = Releases.of("3.0.7")
"""With later releases of both: 4.17.2 to 4.18.2, and 4.0.8, 4.2.4, 5.0.1."""


def by_bug(name: str, project: str, until: str) -> Way:
    """A way by a bug that releases have up to this one."""
    every = BOOKKEEPER if project == "bookkeeper" else tuple(PULSAR)
    there = ", ".join(every[: every.index(until) + 1])
    others = ", ".join(every[every.index(until) + 1 :])
    run: Any = None  # the words are not of the run
    bug = Bug(project=project, releases=f"{there}, not {others}" if others else there)
    return Way(name, name, ("a lost session of a broker",), 1, run, run, bug)


class Cluster:
    """Answers as if a way were there exactly in the releases that have its bug, and counts what it is asked."""

    def __init__(self, *ways: Way, comes: Mapping[str, Way] | None = None) -> None:
        self.ways, self.comes, self.asked = ways, comes or {}, list[str]()

    def answer(self, releases: Releases) -> Answer:
        left = [way for way in self.ways if way.bug is not None and way.bug.number(releases) in way.bug.present]
        left += [way for release, way in self.comes.items() if release == releases.pulsar]
        return Answer(MATTERS[0], tuple(left), (), (), {})

    def ask(self, settings: Mapping[str, str], releases: Releases) -> Answer:
        assert not settings
        assert str(releases) not in self.asked, "nothing is asked twice"
        self.asked.append(str(releases))
        return self.answer(releases)

    def first(self, alike: Collection[str] = ()) -> list[str]:
        """What to change first, each with how much it closes. ``alike`` releases are the same to the cluster."""

        def depends_on(releases: Releases) -> object:
            return [number for number in (releases.pulsar, releases.bookkeeper) if number not in alike]

        now = self.answer(NOW)
        results = tried(candidates(now.ways, NOW, depends_on, {}), now, now.ways, self.ask)
        return [f"{each.says}: {len(each.closes)}" for each in first_of(results)]


def test_the_oldest_release_that_closes_as_much_is_named() -> None:
    """Of bookies 4.17.4 is the first without both bugs, and no other is searched with but the newest."""
    cluster = Cluster(by_bug("a", "bookkeeper", "4.17.3"), by_bug("b", "bookkeeper", "4.16.6"))
    assert cluster.first() == ["bookies on BookKeeper 4.17.2: 1", "bookies on BookKeeper 4.17.4: 2"]
    bookies = [asked for asked in cluster.asked if asked.startswith("Pulsar 3.0.7")]
    assert [each.split()[4] for each in bookies] == ["4.18.2", "4.17.2", "4.17.4"]


def test_a_smaller_upgrade_is_named_before_a_larger_one_that_closes_more() -> None:
    cluster = Cluster(by_bug("a", "pulsar", "4.0.8"), by_bug("b", "pulsar", "5.0.0-M1"))
    small, large = "Pulsar 4.2.4 with BookKeeper 4.17.3", "Pulsar 5.0.1 with BookKeeper 4.18.2"
    assert cluster.first() == [f"{small}: 1", f"{large}: 2"]
    assert small in cluster.asked
    assert not any("4.0.8" in each or "M1" in each for each in cluster.asked), "it has both bugs; a milestone is not for use"


def test_a_cheaper_remedy_leaves_an_upgrade_nothing() -> None:
    assert Cluster(by_bug("a", "bookkeeper", "4.17.2")).first() == ["bookies on BookKeeper 4.17.3: 1"]


def test_an_older_release_that_brings_a_way_comes_after_one_that_brings_none() -> None:
    way = by_bug("a", "pulsar", "4.0.8")
    assert Cluster(way).first() == ["Pulsar 4.2.4 with BookKeeper 4.17.3: 1"]
    brings = Cluster(way, comes={"4.2.4": by_bug("c", "pulsar", "5.0.1")})
    assert brings.first() == ["Pulsar 5.0.1 with BookKeeper 4.18.2: 1"]


def test_what_no_release_closes_is_searched_with_the_newest_alone() -> None:
    cluster = Cluster(by_bug("a", "pulsar", "5.0.1"))
    assert cluster.first() == []
    assert len(cluster.asked) == 2


def test_of_releases_that_are_alike_the_oldest_is_searched_with() -> None:
    cluster = Cluster(by_bug("a", "bookkeeper", "4.17.3"))
    assert cluster.first(alike=("4.17.4", "4.18.0", "4.18.2")) == ["bookies on BookKeeper 4.17.4: 1"]
    assert len([asked for asked in cluster.asked if asked.startswith("Pulsar 3.0.7")]) == 1


@pytest.fixture(scope="module")
def settings() -> Settings:
    return read_settings(ROOT / "docs" / "examples" / "broker.conf")


def test_releases_with_the_same_bugs_and_behaviour_are_alike(settings: Settings) -> None:
    def depends_on(bookkeeper: str) -> object:
        releases = replace(Releases.of("4.0.8"), bookkeeper=bookkeeper)
        return answered_alike(settings.configuration(releases), releases)

    assert depends_on("4.17.2") == depends_on("4.17.3")
    assert depends_on("4.18.0") == depends_on("4.18.2")
    assert depends_on("4.17.3") != depends_on("4.17.4"), "fence_checked_apart is fixed"
    old, new = (Releases.of(number) for number in ("4.0.8", "4.2.4"))
    assert answered_alike(settings.configuration(old), old) != answered_alike(settings.configuration(new), new)
