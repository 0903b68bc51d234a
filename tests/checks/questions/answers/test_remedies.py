"""What to change first: with which releases answers are searched, and which of them are named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.checks.questions.answers.remedies import MOST, Remedy, answered_alike, candidates, first_of, most_searches, tried
from fencepost.checks.questions.answers.ways import Answer, Way
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.settings.broker_conf import Taken
from fencepost.checks.settings.cluster_settings import Settings, read_settings
from fencepost.model.releases import BOOKKEEPER, PULSAR, Releases
from fencepost.properties.bugs import Bug
from tests.command import ROOT

NOW = Releases.of("3.0.7")
"""With later releases of both: 4.17.2 to 4.18.2, and 4.0.8, 4.2.4, 5.0.1."""


def by_bug(name: str, project: str, until: str, again: str = "") -> Way:
    """A way by a bug that releases have up to this one, and ``again``."""
    every = BOOKKEEPER if project == "bookkeeper" else tuple(PULSAR)
    has = [*every[: every.index(until) + 1], *filter(None, again.split(", "))]
    there, others = ", ".join(has), ", ".join(each for each in every if each not in has)
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

    def first(self, alike: Collection[str] = ()) -> list[Remedy]:
        """What to change first. ``alike`` releases are the same to the cluster."""

        def depends_on(releases: Releases) -> object:
            return [number for number in (releases.pulsar, releases.bookkeeper) if number not in alike]

        now = self.answer(NOW)
        return first_of(tried(candidates(now.ways, NOW, depends_on, {}), now, now.ways, self.ask))


def words(remedies: Iterable[Remedy]) -> list[str]:
    return [f"{each.says} ({each.terms}): {len(each.closes)}" for each in remedies]


def test_the_oldest_release_that_closes_as_much_is_named() -> None:
    """Of bookies 4.17.4 is the first without both bugs, and 4.17.2 the first without one."""
    cluster = Cluster(by_bug("a", "bookkeeper", "4.17.3"), by_bug("b", "bookkeeper", "4.16.6"))
    (only,) = cluster.first()
    assert words([only]) == ["bookies on BookKeeper 4.17.4 (not in Pulsar 3.0.7; 4.17.2 closes 1): 2"]
    assert [only.step_for(name).says.split()[-1] for name in "ab"] == ["4.17.4", "4.17.2"]
    bookies = [asked.split()[4] for asked in cluster.asked if asked.startswith("Pulsar 3.0.7")]
    assert bookies == ["4.17.2", "4.17.3", "4.17.4", "4.18.0", "4.18.2"]


def test_a_smaller_upgrade_is_named_beside_a_larger_one_that_closes_more() -> None:
    cluster = Cluster(by_bug("a", "pulsar", "4.0.8"), by_bug("b", "pulsar", "5.0.0-M1"))
    assert words(cluster.first()) == ["Pulsar 5.0.1 with BookKeeper 4.18.2 (4.2.4 closes 1): 2"]
    assert not any("M1" in each for each in cluster.asked), "a milestone is not for use"


def test_releases_that_close_different_ways_have_a_row_each() -> None:
    """A bug that is fixed and comes back: the newest release closes less than an older one."""
    back = by_bug("a", "bookkeeper", "4.16.6", "4.18.0, 4.18.2")
    cluster = Cluster(back, by_bug("b", "bookkeeper", "4.17.4"))
    assert [each.says.split()[-1] for each in cluster.first()] == ["4.17.2", "4.18.0"]


def test_settings_of_the_bookies_that_expose_a_way_are_searched_with() -> None:
    """Not those of a way by a bug, which are no mistake; and what two ways have in common once."""
    flags = (Taken("journalSyncData", False), Taken("journalWriteData", False))
    row: Any = SimpleNamespace(guarantee=SimpleNamespace(exposed_by=flags))
    plain: Any = SimpleNamespace(guarantee=SimpleNamespace(exposed_by=()))
    power = replace(by_bug("power", "bookkeeper", "4.16.6"), bug=None, row=row)
    ways = [power, replace(power, name="kills"), replace(power, row=plain), replace(by_bug("a", "pulsar", "3.0.7"), row=row)]
    settings = [each for each in candidates(ways, NOW, lambda releases: None, {}) if each.kind == "setting"]
    assert [(each.says, each.settings) for each in settings] == [
        ("journalSyncData=true, journalWriteData=true", {"journalSyncData": "true", "journalWriteData": "true"})
    ]


def test_a_cheaper_remedy_leaves_an_upgrade_nothing() -> None:
    (only,) = Cluster(by_bug("a", "bookkeeper", "4.17.2")).first()
    assert only.says == "bookies on BookKeeper 4.17.3"


def test_an_older_release_that_brings_a_way_comes_after_one_that_brings_none() -> None:
    way = by_bug("a", "pulsar", "4.0.8")
    assert words(Cluster(way).first()) == ["Pulsar 4.2.4 with BookKeeper 4.17.3 (): 1"]
    brings = Cluster(way, comes={"4.2.4": by_bug("c", "pulsar", "5.0.1")})
    assert words(brings.first()) == ["Pulsar 5.0.1 with BookKeeper 4.18.2 (): 1"]


def test_no_more_is_searched_than_progress_counts() -> None:
    cluster = Cluster(by_bug("a", "pulsar", "5.0.1"))
    assert cluster.first() == []
    assert len(cluster.asked) == most_searches(NOW) - MOST


def test_of_releases_that_are_alike_the_oldest_is_searched_with() -> None:
    cluster = Cluster(by_bug("a", "bookkeeper", "4.17.3"))
    (only,) = cluster.first(alike=("4.17.4", "4.18.0", "4.18.2"))
    assert only.says == "bookies on BookKeeper 4.17.4"
    assert "4.18" not in "".join(asked for asked in cluster.asked if asked.startswith("Pulsar 3.0.7"))


@pytest.fixture(scope="module")
def settings() -> Settings:
    return read_settings(ROOT / "docs" / "examples" / "broker.conf")


def test_releases_with_the_same_bugs_and_behaviour_are_alike(settings: Settings) -> None:
    def depends_on(bookkeeper: str) -> object:
        releases = replace(Releases.of("4.0.8"), bookkeeper=bookkeeper)
        return answered_alike(settings.configuration(releases))

    assert depends_on("4.17.2") == depends_on("4.17.3")
    assert depends_on("4.18.0") == depends_on("4.18.2")
    assert depends_on("4.17.3") != depends_on("4.17.4"), "fence_checked_apart is fixed"
    old, new = (Releases.of(number) for number in ("4.0.8", "4.2.4"))
    assert answered_alike(settings.configuration(old)) != answered_alike(settings.configuration(new))
