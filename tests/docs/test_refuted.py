"""Sentences that the sources of a release refute: no page, no docstring and no entry of a bug says them again.

What an answer says where such a sentence was is tested beside the answer; here is what is a matter of words and of data.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from fencepost.model.releases import PULSAR, SYSTEMS
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS
from tests.docs.examples import ROOT

REFUTED = {
    "two creations of a ledger at once are in no release": r"rollover_during_creation[^.]*no modelled release",
    "fences keep a broker from losing messages that goes on with the former store": r"goes_on_unprepared loses no message",
    "every broker hears of the end of a migration": r"every broker that lives hears of that\.(?! No release)",
    "no release fixes it, whether or not somebody has read the newest": r"\bno release (fixes|up to)\b",
    "the broker gives a creation up whose answer is lost": r"own_node_ignored|gives the request up",
    "no load balancer is enough to unload nothing": r"`?loadBalancerEnabled=false`?, so that nothing is unloaded",
    "WriteFailed is set on line 1759": r"WriteFailed[^.]{0,40}1759",
    "no protocol has a migration of the metadata": r"such a migration is not modelled",
    "no broker of 3.0.7 or 4.0.8 starts with strategies that do not fit": r"(3\.0\.7|4\.0\.8)[^.|]{0,60}no broker starts",
    "a subscription keeps its backlog, whatever its settings": r"No subscription loses its backlog",
}
"""By what is refuted: how it was said."""

SAID = (
    ("docs/findings/migration-keeps-a-dead-owner.md", "A lost connection alone does harm"),
    ("docs/findings/migration-keeps-a-dead-owner.md", "unload nothing yourself"),
    ("docs/how-to/migrate-the-metadata-store.md", "Restart at once each broker that lost its connection meanwhile"),
    ("docs/how-to/migrate-the-metadata-store.md", "unload nothing yourself"),
    ("docs/reference/cluster.md", "with `passed_over` a lost connection alone is enough"),
    ("docs/explanation/deviations.md", "`ownership` has it, with `migration=yes`"),
    (
        "docs/reference/configuration.md",
        "the cluster runs, and is balanced by [its rules](policy.md#simpleloadmanagerimpl). From 4.2.4 on no broker",
    ),
    ("docs/reference/policy.md", "Bundles with equal averages share a destination, and all new bundles share one draw"),
)
"""What a page says instead."""

PAGES = (*(ROOT / "docs").rglob("*.md"), ROOT / "README.md")
SOURCES = tuple(each for floor in ("model", "properties", "traces", "checks") for each in (ROOT / floor).rglob("*.py"))
BUGS = tuple((ROOT / "properties").rglob("bugs.toml"))


@cache
def words(place: str) -> str:
    """A text in one line, as it reads: without the backslashes of a file of bugs."""
    return " ".join((ROOT / place).read_text(encoding="utf-8").replace("\\\n", "").split())


def bug(protocol: str, name: str) -> Bug:
    return PROTOCOLS[protocol].bugs[name]


@pytest.mark.parametrize("wording", REFUTED.values(), ids=REFUTED)
def test_it_is_said_nowhere(wording: str) -> None:
    everywhere = (str(each.relative_to(ROOT)) for each in (*PAGES, *SOURCES, *BUGS))
    assert [place for place in everywhere if re.search(wording, words(place))] == []


@pytest.mark.parametrize(("place", "sentence"), SAID)
def test_it_is_said_where_it_matters(place: str, sentence: str) -> None:
    assert sentence in words(place)


def test_two_creations_at_once_are_in_every_release_that_was_read() -> None:
    assert bug("topic", "rollover_during_creation").present == ()
    assert tuple(bug("topic", "listed_after_time_out").present) == tuple(PULSAR)


def test_a_bug_that_is_open_says_how_far_somebody_has_read() -> None:
    every = [one for entry in PROTOCOLS.values() for one in entry.bugs.values()]
    still = [one for one in every if not one.fixed and one.present]
    assert still
    for one in still:
        assert re.fullmatch(rf"not fixed up to {re.escape(one.newest_read)}( \(\d{{4}}-\d\d\))?", one.fix)


def test_a_setting_that_a_policy_overrides_says_so() -> None:
    deletes, publishes = bug("topic", "zombie_deletes").avoided_by, bug("topic", "removed_producer_publishes").avoided_by
    assert deletes is not None
    assert publishes is not None
    assert str(deletes).endswith("unless inactiveTopicPolicies of a namespace or topic says otherwise")
    assert "unless deduplicationEnabled of a namespace or topic says otherwise" in str(publishes)
    assert str(publishes).endswith("(it does not avoid messages twice or out of order)")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_load_balancer_is_not_all_that_unloads(protocol: str) -> None:
    for one in PROTOCOLS[protocol].bugs.values():
        if one.avoided_by is not None and "loadBalancerEnabled" in one.avoided_by.setting:
            assert "by an administrator" in one.avoided_by.setting
            assert "shut down" in one.avoided_by.setting


@pytest.mark.parametrize(
    ("protocol", "name", "present"),
    [
        ("topic", "fenced_reopened", ("4.0.8", "4.2.4")),
        ("topic", "current_before_listed", ("2.10.1",)),
        ("topic", "trim_keeps_mutexes", ("2.10.1",)),
        ("ownership", "start_missed", ("4.2.4", "5.0.0-M1", "5.0.1")),
        ("ownership", "completion_missed", ("4.2.4", "5.0.0-M1", "5.0.1")),
    ],
)
def test_what_a_release_has_is_in_the_table(protocol: str, name: str, present: tuple[str, ...]) -> None:
    assert tuple(bug(protocol, name).present) == present


def test_what_is_read_names_what_was_read() -> None:
    assert "(1761)" in bug("topic", "reopened_before_fence").evidence
    assert "4.2.4:762-768) returns while transferring" in bug("topic", "transferred_context_kept").evidence
    assert "with the former store, nobody reads" in bug("ownership", "goes_on_unprepared").costs
    assert SYSTEMS[bug("kafka_controller", "deletes_any").project] == "Kafka"
