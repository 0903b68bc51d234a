"""Lines of logs mean the same in every release: each message as it was and as it is, in each layout that it is shipped with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from fencepost.checks.history.logs import add_line, process_of
from fencepost.checks.history.messages import MESSAGES, NO_ATTRIBUTES
from fencepost.checks.history.rows import Rows

BUNDLE = "public/ns-0/0x00000000_0x80000000"
PULSAR = "2026-11-02T00:01:00,250+0000 [main] INFO  org.apache.pulsar.broker.X - {}"
OLD_CONSOLE = "2026-11-02T00:01:00,250 - INFO  - [main:X@7] - {}"
"""conf/log4j2.xml of BookKeeper 4.17.3."""
CONSOLE = "2026-11-02T00:01:00,250 - WARN  - [BookieReadThread-0:X@7] - {}"
FILE = "2026-11-02T00:01:00,250 - WARN  [BookieReadThread-0:X@7] - {}"
"""The appenders CONSOLE and ROLLINGFILE of 4.18.0."""
MDC = "2026-11-02T00:01:00,250 - INFO  [main:X@7] {} - "
RELEASING = (
    "ServiceUnitStateData[state=Releasing, dstBroker=b2:8080, sourceBroker=b1:8080, splitServiceUnitToDestBroker=null, "
    "force=false, timestamp=1795917891619, versionId=3]"
)
OWNED = RELEASING.replace("Releasing", "Owned").replace("versionId=3", "versionId=4").replace("=b1:8080", "=null")
HANDLED = {
    "process": "b1:8080",
    "subject": BUNDLE,
    "event": "handled",
    "state": "Releasing",
    "dst": "b2:8080",
    "src": "b1:8080",
    "version": "3",
    "tag": "Transfer:Releasing",
    "written": "1795917891619",
}
OVERRIDDEN = {
    "process": "b1",
    "subject": BUNDLE,
    "event": "overridden",
    "inactive": "b2:8080",
    **{name: HANDLED[name] for name in ("state", "dst", "src", "version", "written")},
    "to_state": "Owned",
    "to_dst": "b2:8080",
    "to_version": "4",
    "to_written": "1795917891619",
}
FENCED = {"event": "fenced", "process": "b1", "subject": "12", "by": "/10.0.0.9:41000"}
REFUSED = {"event": "refused", "process": "b1", "subject": "12"}
UNLOADED = {"kind": "unload", "bundle": BUNDLE, "from": "b1:8080", "to": "b2:8080"}

SAME: dict[str, tuple[dict[str, str], list[str]]] = {
    "a shedder of the modular load manager": (
        {**UNLOADED, "reason": "ThresholdShedder"},
        [
            f"[ThresholdShedder] Unloading bundle: {BUNDLE} from broker b1:8080 to dest broker b2:8080",
            (
                f"Unloading bundle from source broker to dest broker {{bundle={BUNDLE}, class=ThresholdShedder, "
                "destBroker=b2:8080, sourceBroker=b1:8080}"
            ),
        ],
    ),
    "a shedder of the extensible one": (
        {**UNLOADED, "reason": "TransferShedder"},
        [
            (
                f"[TransferShedder] Unloading bundle: Unload[sourceBroker=b1:8080, serviceUnit={BUNDLE}, "
                "destBroker=Optional[b2:8080], force=false]"
            ),
            (
                f"Unloading bundle {{bundle=Unload[sourceBroker=b1:8080, serviceUnit={BUNDLE}, destBroker=Optional[b2:8080], "
                "force=false], strategy=TransferShedder}"
            ),
        ],
    ),
    "an unload to nobody": (
        {"kind": "unload", "bundle": BUNDLE, "from": "b1:8080", "reason": "TransferShedder"},
        [
            (
                f"[TransferShedder] Unloading bundle: Unload[sourceBroker=b1:8080, serviceUnit={BUNDLE}, "
                "destBroker=Optional.empty, force=false]"
            )
        ],
    ),
    "a split by the modular load manager": (
        {"kind": "split", "bundle": BUNDLE, "reason": "ModularLoadManagerImpl.checkNamespaceBundleSplit"},
        [f"Successfully split namespace bundle {BUNDLE}", f"Successfully split namespace bundle {{bundle={BUNDLE}}}"],
    ),
    "a split by the extensible one": (
        {"kind": "split", "bundle": BUNDLE, "reason": "ServiceUnitStateChannelImpl.splitServiceUnitOnceAndRetry"},
        [
            f"Successfully split {BUNDLE} parent namespace-bundle to [a/b/0x0_0x1, a/b/0x1_0x2] in 3.0 ms",
            (
                f"Successfully split parent namespace-bundle {{childBundles=[a/b/0x0_0x1, a/b/0x1_0x2], parentBundle={BUNDLE}, "
                "splitTimeMs=3.0}"
            ),
        ],
    ),
    "an owner by the lock": (
        {"kind": "assign", "bundle": BUNDLE, "to": "b1", "reason": "OwnershipCache.tryAcquiringOwnership"},
        [
            f"Successfully acquired ownership of {BUNDLE}",
            f"Successfully acquired ownership of {BUNDLE} {{}}",
            f"Successfully acquired ownership {{bundle={BUNDLE}}}",
        ],
    ),
    "an owner by the channel": (
        {"kind": "assign", "bundle": BUNDLE, "to": "b2:8080", "reason": "ExtensibleLoadManagerImpl.assign"},
        [
            f"Selected new owner broker: b2:8080 for bundle: {BUNDLE}.",
            f"Selected new owner broker: for bundle {{broker=b2:8080, bundle={BUNDLE}}}",
        ],
    ),
    "a record that is handled": (
        HANDLED,
        [
            (
                f"b1:8080 handled Transfer:Releasing event for serviceUnit:{BUNDLE}, cur:{RELEASING}, next:{OWNED}, "
                "totalHandledRequests:1, totalFailedRequests:0"
            ),
            (
                f"Handled event for serviceUnit {{broker=b1:8080, cur={RELEASING}, event=Transfer:Releasing, "
                f"handlerTotalCount=1, next={OWNED}, serviceUnit={BUNDLE}, totalFailedRequests=0}}"
            ),
        ],
    ),
    "a record that is overridden": (
        OVERRIDDEN,
        [
            f"Overriding inactiveBroker:b2:8080, ownership serviceUnit:{BUNDLE} from orphanData:{RELEASING} to "
            f"overrideData:{OWNED}{behind}"
            for behind in ("", " {}")
        ],
    ),
    "a topic whose broker opens it": (
        {"event": "opened", "process": "b1", "subject": "t/n/persistent/x"},
        [
            "Opening managed ledger t/n/persistent/x",
            "Opening managed ledger t/n/persistent/x {}",
            "Opening managed ledger {lazyCursorRecovery=false, managedLedger=t/n/persistent/x, topic=persistent://t/n/x}",
        ],
    ),
    "a topic that gets a ledger": (
        {"event": "created", "process": "b1", "subject": "t/n/persistent/x", "ledger": "2"},
        [
            "[t/n/persistent/x] Created ledger 2 after closed null",
            "[t/n/persistent/x] Created new ledger 2",
            "Created ledger after closed {cost ms=30, ledgerId=2, managedLedger=t/n/persistent/x, previousLedgerId=null}",
            "Created new ledger {ledgerId=2, managedLedger=t/n/persistent/x, topic=persistent://t/n/x}",
        ],
    ),
    "a topic whose broker closes it": (
        {"event": "closed", "process": "b1", "subject": "t/n/persistent/x"},
        [
            "[t/n/persistent/x] Closing managed ledger",
            "Closing managed ledger {managedLedger=t/n/persistent/x, topic=persistent://t/n/x}",
        ],
    ),
    "a fence, as the first protocol asks for it": (
        FENCED,
        ["Ledger: 12  fenced by: /10.0.0.9:41000", "Ledger fenced {fencedBy=/10.0.0.9:41000, ledgerId=12}"],
    ),
    "a fence, as the third does": (
        FENCED,
        [
            "Ledger fence request received for ledger: 12 from address: /10.0.0.9:41000",
            "Ledger fence request received {address=/10.0.0.9:41000, ledgerId=12}",
        ],
    ),
    "a refusal by the first": (
        {**REFUSED, "by": "/10.0.0.8:40000"},
        [
            "Write attempt on fenced/deleted ledger 12 by client /10.0.0.8:40000",
            "Write attempt on fenced/deleted ledger {clientAddress=/10.0.0.8:40000, ledgerId=12}",
        ],
    ),
    "a refusal by the third": (
        {**REFUSED, "entry": "7"},
        [
            "Ledger fenced/deleted while writing entry:7 to ledger:12",
            "Ledger fenced/deleted while writing entry to ledger {entryId=7, ledgerId=12}",
        ],
    ),
    "an ensemble": (
        {"event": "new_ensemble", "process": "b1", "subject": "12", "ensemble": "10.0.0.1:3181, 10.0.0.2:3181"},
        [
            "New Ensemble: [10.0.0.1:3181, 10.0.0.2:3181] for ledger: 12",
            "New Ensemble {ledgerId=12, newEnsemble=[10.0.0.1:3181, 10.0.0.2:3181]}",
        ],
    ),
}


def read(text: str) -> dict[str, Any]:
    """What becomes of a line: its row, without what is in every row, or what is said of it in the quarantine."""
    rows = Rows()
    add_line(rows, text, ZoneInfo("UTC"), "prod", "file:/logs/b1.log", 1, 0)
    ((table, row),) = [
        (name, row[name]) for batch in rows.batches() for row in batch.to_pylist() for name in row if row[name] is not None
    ]
    if table == "quarantine":
        return {"kind": row["kind"], "reason": row["reason"]}
    common = ("cluster", "time", "source", "line", "protocol", "fields")
    return {name: value for name, value in row.items() if name not in common and value} | {
        name: value for name, value in dict(row.get("fields") or ()).items() if name != "zone"
    }


def layouts(message: str) -> Iterator[str]:
    """A message in the layouts of both projects, as text."""
    yield from (layout.format(message) for layout in (PULSAR, OLD_CONSOLE, CONSOLE, FILE))
    yield MDC + message


@pytest.mark.parametrize(("expected", "messages"), SAME.values(), ids=SAME)
def test_each_release_says_the_same_in_each_layout(expected: dict[str, str], messages: list[str]) -> None:
    for message in messages:
        for line in layouts(message):
            assert read(line) == expected, line


def test_each_message_that_a_table_takes_has_its_line() -> None:
    lines = [message for _, messages in SAME.values() for message in messages]
    for known in MESSAGES:
        assert any(known.part in line and known.pattern.search(line) for line in lines), known


@pytest.mark.parametrize(
    "place",
    [
        lambda message, named: {"@timestamp": "2026-11-02T00:01:00.250Z", "message": message, **named},
        lambda message, named: {
            "instant": {"epochSecond": 1793577660, "nanoOfSecond": 0},
            "message": message,
            "contextMap": named,
        },
        lambda message, named: {"Timestamp": "2026-11-02T00:01:00.250Z", "Body": message, "Attributes": {"mdc": named}},
    ],
    ids=["Elastic", "JsonLayout", "OpenTelemetry"],
)
def test_attributes_are_found_where_a_template_has_them(place: Any) -> None:
    named = {"ledgerId": 12, "fencedBy": "/10.0.0.9:41000"}
    assert read(json.dumps(place("Ledger fenced", named))) == FENCED
    plain = {"thread.name": "main"}
    assert read(json.dumps(place("Ledger: 12  fenced by: /10.0.0.9:41000", plain))) == FENCED


@pytest.mark.parametrize("behind", ["", " {}"])
def test_a_layout_that_leaves_the_attributes_out_is_named(behind: str) -> None:
    assert read(CONSOLE.format(f"Ledger fenced{behind}")) == {"kind": "unread", "reason": NO_ATTRIBUTES}
    assert read(CONSOLE.format(f"Another message{behind}"))["kind"] == "passed"


@pytest.mark.parametrize(
    ("source", "process"),
    [
        ("file:/logs/pulsar-broker-eu-1.log", "pulsar-broker-eu-1"),
        ("file:/logs/broker-1.log.2.gz", "broker-1"),
        ("s3a://logs/bookie-2/log", "bookie-2"),
        ("file:/logs/host-1/pulsar.log", "host-1/pulsar"),
        ("file:/var/log/pods/ns_broker-0_1f/broker/0.log", "ns_broker-0_1f/broker/0"),
        ("file:/logs/broker.log", "logs/broker"),
    ],
)
def test_logs_of_two_machines_are_of_two_processes(source: str, process: str) -> None:
    assert process_of(source) == process
