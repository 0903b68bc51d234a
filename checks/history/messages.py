"""The messages of Pulsar and BookKeeper that a table takes: what a load manager decided, and steps of models.

From Pulsar 5.0 and BookKeeper 4.18 on a message is constant, and what it is about are attributes (slog), which ``%X`` of a
layout prints behind it by their names: ``Ledger fenced {fencedBy=/10.0.0.9:1, ledgerId=12}``. Each entry names the method that
logs it, as read in Pulsar 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1 and in BookKeeper 4.17.3, 4.18.0 and 4.18.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A message that tells something: how it begins to be looked at, what it looks like, and who logs it.

    A decision has a ``kind``, else it is an event of a protocol: its word, with the group of the pattern that is its subject.
    """

    part: str
    pattern: re.Pattern[str]
    source: str
    kind: str = ""
    protocol: str = ""
    event: str = ""


def _record(of: str = "") -> str:
    """How ServiceUnitStateData prints, with ``of`` before the names of the groups."""
    return (
        rf"ServiceUnitStateData\[state=(?P<{of}state>\w+), dstBroker=(?P<{of}dst>[^,]*), sourceBroker=(?P<{of}src>[^,]*),"
        rf".*?timestamp=(?P<{of}written>\d+), versionId=(?P<{of}version>-?\d+)\]"
    )


def _decision(kind: str, source: str, part: str, pattern: str) -> Message:
    return Message(part, re.compile(pattern), source, kind=kind)


def _event(protocol: str, event: str, source: str, part: str, pattern: str) -> Message:
    return Message(part, re.compile(pattern), source, protocol=protocol, event=event)


_UNLOAD = (
    r"Unload\[sourceBroker=(?P<from>[^,]*), serviceUnit=(?P<bundle>[^,]*), destBroker=Optional(?:\[(?P<to>[^\]]*)\]|\.empty)"
)

MESSAGES = (
    _decision(
        "unload",
        "ModularLoadManagerImpl.doLoadShedding",
        "] Unloading bundle: ",
        r"\[(?P<reason>[^\]]*)\] Unloading bundle: (?P<bundle>\S+) from broker (?P<from>\S+) to dest broker (?P<to>\S+)",
    ),
    _decision(
        "unload",
        "ModularLoadManagerImpl.doLoadShedding",
        "Unloading bundle from source broker to dest broker",
        r"\{.*?bundle=(?P<bundle>[^,}]+).*?class=(?P<reason>\w+).*?destBroker=(?P<to>[^,}]+).*?sourceBroker=(?P<from>[^,}]+)",
    ),
    _decision(
        "unload",
        "UnloadScheduler.execute",
        "] Unloading bundle: ",
        rf"\[(?P<reason>[^\]]*)\] Unloading bundle: {_UNLOAD}",
    ),
    _decision(
        "unload",
        "UnloadScheduler.execute",
        "Unloading bundle {",
        rf"\{{.*?bundle={_UNLOAD}.*?strategy=(?P<reason>\w+)",
    ),
    _decision(
        "split",
        "ModularLoadManagerImpl.checkNamespaceBundleSplit",
        "Successfully split namespace bundle",
        r"split namespace bundle (?:\{.*?bundle=)?(?P<bundle>[^\s,}]+)",
    ),
    _decision(
        "split",
        "ServiceUnitStateChannelImpl.splitServiceUnitOnceAndRetry",
        " parent namespace-bundle to ",
        r"Successfully split (?P<bundle>\S+) parent namespace-bundle to",
    ),
    _decision(
        "split",
        "ServiceUnitStateChannelImpl.splitServiceUnitOnceAndRetry",
        "Successfully split parent namespace-bundle",
        r"\{.*?parentBundle=(?P<bundle>[^,}]+)",
    ),
    _decision(
        "assign",
        "OwnershipCache.tryAcquiringOwnership",
        "Successfully acquired ownership",
        r"acquired ownership (?:of |\{.*?bundle=)(?P<bundle>[^\s,}]+)",
    ),
    _decision(
        "assign",
        "ExtensibleLoadManagerImpl.assign",
        "Selected new owner broker: ",
        r"Selected new owner broker: (?P<to>\S+) for bundle: (?P<bundle>\S+)\.",
    ),
    _decision(
        "assign",
        "ExtensibleLoadManagerImpl.assign",
        "Selected new owner broker: for bundle",
        r"\{.*?broker=(?P<to>[^,}]+).*?bundle=(?P<bundle>[^,}]+)",
    ),
    _event(
        "service_unit",
        "handled",
        "ServiceUnitStateChannelImpl.log",
        " event for serviceUnit:",
        rf"(?P<process>\S+) handled (?P<tag>\S+) event for serviceUnit:(?P<subject>[^,]+), cur:{_record()}",
    ),
    _event(
        "service_unit",
        "handled",
        "ServiceUnitStateChannelImpl.log",
        "Handled event for serviceUnit",
        rf"\{{.*?broker=(?P<process>[^,}}]+), cur={_record()}.*?event=(?P<tag>[^,}}]+).*?serviceUnit=(?P<subject>[^,}}]+)",
    ),
    _event(
        "service_unit",
        "overridden",
        "ServiceUnitStateChannelImpl.overrideOwnership",
        "Overriding inactiveBroker:",
        r"Overriding inactiveBroker:(?P<inactive>[^,]*), ownership serviceUnit:(?P<subject>\S+) "
        rf"from orphanData:{_record()} to overrideData:{_record('to_')}",
    ),
    _event(
        "topic",
        "opened",
        "ManagedLedgerImpl.initialize",
        "Opening managed ledger",
        r"Opening managed ledger (?:\{.*?managedLedger=)?(?P<subject>[^\s,{}]+)",
    ),
    _event(
        "topic",
        "created",
        "ManagedLedgerImpl.createComplete, ManagedLedgerImpl.initializeBookKeeper",
        "] Created ",
        r"\[(?P<subject>[^\]]+)\] Created (?:new )?ledger (?P<ledger>\d+)",
    ),
    _event(
        "topic",
        "created",
        "ManagedLedgerImpl.createComplete, ManagedLedgerImpl.initializeBookKeeper",
        "Created ",
        r"Created (?:new ledger|ledger after closed) \{.*?ledgerId=(?P<ledger>\d+).*?managedLedger=(?P<subject>[^,}]+)",
    ),
    _event(
        "topic",
        "closed",
        "ManagedLedgerImpl.asyncClose",
        "Closing managed ledger",
        r"\[(?P<subject>[^\]]+)\] Closing managed ledger",
    ),
    _event(
        "topic",
        "closed",
        "ManagedLedgerImpl.asyncClose",
        "Closing managed ledger",
        r"Closing managed ledger \{.*?managedLedger=(?P<subject>[^,}]+)",
    ),
    _event(
        "ledger",
        "fenced",
        "ReadEntryProcessor.processPacket",
        "fenced by",
        r"Ledger: (?P<subject>\d+) +fenced by: (?P<by>\S+)",
    ),
    _event(
        "ledger",
        "fenced",
        "ReadEntryProcessor.processPacket",
        "Ledger fenced {",
        r"\{.*?fencedBy=(?P<by>[^,}]+).*?ledgerId=(?P<subject>\d+)",
    ),
    _event(
        "ledger",
        "fenced",
        "ReadEntryProcessorV3.getReadResponse",
        "Ledger fence request received",
        r"received for ledger: (?P<subject>\d+) from address: (?P<by>\S+)",
    ),
    _event(
        "ledger",
        "fenced",
        "ReadEntryProcessorV3.getReadResponse",
        "Ledger fence request received",
        r"\{.*?address=(?P<by>[^,}]+).*?ledgerId=(?P<subject>\d+)",
    ),
    _event(
        "ledger",
        "refused",
        "WriteEntryProcessorV3.getAddResponse",
        "Ledger fenced/deleted while writing",
        r"while writing entry:(?P<entry>-?\d+) to ledger:(?P<subject>\d+)",
    ),
    _event(
        "ledger",
        "refused",
        "WriteEntryProcessorV3.getAddResponse",
        "Ledger fenced/deleted while writing",
        r"\{.*?entryId=(?P<entry>-?\d+).*?ledgerId=(?P<subject>\d+)",
    ),
    _event(
        "ledger",
        "refused",
        "WriteEntryProcessor.processPacket",
        "Write attempt on fenced",
        r"fenced/deleted ledger (?P<subject>\d+) by client (?P<by>\S+)",
    ),
    _event(
        "ledger",
        "refused",
        "WriteEntryProcessor.processPacket",
        "Write attempt on fenced",
        r"\{.*?clientAddress=(?P<by>[^,}]+).*?ledgerId=(?P<subject>\d+)",
    ),
    _event(
        "ledger",
        "new_ensemble",
        "LedgerHandle.ensembleChangeLoop",
        "New Ensemble",
        r"New Ensemble: \[(?P<ensemble>[^\]]*)\] for ledger: (?P<subject>\d+)",
    ),
    _event(
        "ledger",
        "new_ensemble",
        "LedgerHandle.ensembleChangeLoop",
        "New Ensemble",
        r"\{.*?ledgerId=(?P<subject>\d+).*?newEnsemble=\[(?P<ensemble>[^\]]*)\]",
    ),
)
"""Every message that a table takes. Unless it debugs, the channel logs of handlings only those of a transfer."""

NO_ATTRIBUTES = "has lost what it is about: add %X to the pattern of the log's layout"
"""Of a message whose attributes the layout does not print."""
_PARTS = re.compile("|".join(sorted({re.escape(known.part) for known in MESSAGES})))
BARE = {
    "Unloading bundle from source broker to dest broker",
    "Handled event for serviceUnit",
    "Opening managed ledger",
    "Created new ledger",
    "Created ledger after closed",
    "Closing managed ledger",
    "Ledger fenced",
    "Ledger fence request received",
    "Ledger fenced/deleted while writing entry to ledger",
    "Write attempt on fenced/deleted ledger",
    "New Ensemble",
}
"""Constant messages that mean nothing without their attributes, if %X does not print them."""


def meant(message: str) -> tuple[Message, Mapping[str, str]] | None:
    """What a message says that a table takes."""
    part = _PARTS.search(message)
    if part is None:
        return None
    for known in MESSAGES:
        if known.part in message and (match := known.pattern.search(message)):
            return known, {name: value for name, value in match.groupdict().items() if value not in (None, "", "null")}
    return None
