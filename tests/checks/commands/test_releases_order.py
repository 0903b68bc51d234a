"""``fencepost releases order``: the known bugs on the way of an upgrade, by what runs there."""

from __future__ import annotations

import json

from fencepost.checks.commands.releases.order import orders_of
from fencepost.model.releases import Releases
from fencepost.properties.protocols import PROTOCOLS
from tests.command import fencepost

OF_THE_CLIENT = {
    *("LedgerHandle", "LedgerRecoveryOp", "ReadOnlyLedgerHandle", "PendingAddOp", "PendingReadOp", "DigestManager"),
    *("LedgerOpenOp", "RackawareEnsemblePlacementPolicyImpl"),
}
"""The classes that run in a broker's client of BookKeeper, of those that bugs name."""


def test_on_the_way_the_bookies_and_the_brokers_differ() -> None:
    bookies, brokers = orders_of(Releases.of("4.2.4"), Releases.of("5.0.1"))
    assert bookies.on_the_way == Releases("4.2.4", "4.18.2", client="4.17.3")
    assert brokers.on_the_way == Releases("5.0.1", "4.17.3", client="4.18.2")
    assert "fence_checked_apart" in bookies.fixed
    assert "fence_checked_apart" in brokers.left
    assert set(bookies.fixed) == set(brokers.left)
    assert set(brokers.fixed) == set(bookies.left)


def test_a_bug_that_only_the_new_bookies_have_comes_with_them() -> None:
    bookies, brokers = orders_of(Releases.of("2.10.1"), Releases.of("3.0.7"))
    assert "idle_checkpoint_skips_index" in bookies.brought
    assert "idle_checkpoint_skips_index" not in brokers.brought


def test_a_bug_of_the_client_goes_by_the_release_of_the_client() -> None:
    bug = PROTOCOLS["ledger"].bugs["confirms_while_changing"]
    assert bug.client
    assert bug.number(Releases.of("4.0.8", "4.18.0")) == "4.17.2"
    assert PROTOCOLS["ledger"].bugs["fence_not_durable"].number(Releases.of("4.0.8", "4.18.0")) == "4.18.0"


def test_the_bugs_in_classes_of_the_client_say_so() -> None:
    for entry in (PROTOCOLS[name] for name in ("ledger", "bookie", "replication")):
        for name, bug in entry.bugs.items():
            if bug.methods and not bug.weakening:
                assert bug.client == ({method.split(".")[0] for method in bug.methods} <= OF_THE_CLIENT), name


def test_both_orders_are_printed_with_what_happens() -> None:
    run = fencepost("releases", "order", "4.2.4", "5.0.1")
    assert run.returncode == 0, run
    assert "bookies first: on the way Pulsar 4.2.4 with BookKeeper 4.18.2 (its client 4.17.3)\n" in run.stdout
    assert f"    mark_goes_back: {PROTOCOLS['bookie'].bugs['mark_goes_back'].plain}" in run.stdout
    for way in ("--pulsar 4.2.4 --bookkeeper 4.18.2", "--pulsar 5.0.1 --bookkeeper 4.17.3"):
        assert f"  fencepost check --conf broker.conf {way}\n" in run.stdout, "bugs are counted there, and weighed by a check"
    document = json.loads(fencepost("releases", "order", "4.2.4", "5.0.1", "--format", "json").stdout)
    assert [order["first"] for order in document["orders"]] == ["bookies", "brokers"]
    assert document["orders"][0]["on_the_way"] == {"pulsar": "4.2.4", "bookkeeper": "4.18.2", "bookkeeper_client": "4.17.3"}


def test_an_upgrade_takes_two_releases_of_pulsar() -> None:
    for names, words in ((("4.2.4", "4.2.4"), "4.2.4 is named twice"), (("4.2.4", "9.9"), "Pulsar 9.9 is not modelled")):
        run = fencepost("releases", "order", *names)
        assert run.returncode != 0
        assert words in run.stderr
