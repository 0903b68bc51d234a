"""Parts of a configuration in YAML: what commands print of a cluster, and the custom resources of two operators of Kubernetes.

``bookkeeper shell listbookies`` (ListBookiesCommand of 4.17.3: headings, then ``BookieID:%s, IP:%s, Port:%d, Hostname:%s``, on
lines that a log may begin); ``pulsar-admin bookies racks-placement`` (BookiesRackConfiguration: by group and bookie its rack)
and ``list-bookies``. ``pulsar-admin brokers get-runtime-config``, and ``server_config`` of a bookie's HTTP server.

Of ``pulsar-admin namespaces policies`` the names are those of Policies in pulsar-client-admin-api 4.2.4; what a policy says
counts before the broker's own setting (AbstractTopic.updateTopicPolicyByNamespacePolicy). A policy without a setting keeps its
own name.

KAAP has one ``PulsarCluster`` (``kaap.oss.datastax.com``, before ``com.datastax.oss``), or a ``Broker`` and a ``BookKeeper``:
``spec.broker.config`` and ``spec.bookkeeper.config``, where BaseResourcesFactory.handleConfigPulsarPrefix puts PULSAR_PREFIX_
before every key that does not begin with PULSAR_ or BOOKIE_; ``image`` of a component, else of ``spec.global``. Its chart has
the same below ``cluster.spec``. StreamNative has a ``PulsarBroker`` (``pulsar.streamnative.io``) and a ``BookKeeperCluster``
(``bookkeeper.streamnative.io``): ``spec.image``, ``spec.replicas``, and settings in ``spec.config.custom``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from fencepost.checks.inputs.input_files import InputError, Place
from fencepost.checks.inputs.settings_files import (
    BOOKIE_TAG,
    BROKER_TAG,
    PREFIX,
    REPLICAS,
    Image,
    Owner,
    Setting,
    as_applied,
)
from fencepost.model.counts import count_of

NULL = "tag:yaml.org,2002:null"


@dataclass(frozen=True)
class Part:
    """What a YAML file has of the settings of brokers or of bookies: the name of the part that was read, its settings, notes on
    it, whose it is, and which image applies it."""

    name: str
    settings: list[Setting]
    notes: tuple[str, ...] = ()
    of: Owner = ""
    image: Image = ""


def child(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a key; of a key that is given twice the last, as most readers take it."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in reversed(pairs) if key.value == name), None)


def scalar(node: yaml.Node | None, name: str) -> str:
    """The text of a key; empty if it has none."""
    value = child(node, name)
    return value.value if isinstance(value, yaml.ScalarNode) else ""


def entries_of(path: Path, node: yaml.MappingNode, name: str) -> Iterator[Setting]:
    """The settings that a mapping has, with their lines; InputError for a key or a value that is no text."""
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.value == "<<" or not (isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)):
            what = f"{key.value} is no text" if isinstance(key, yaml.ScalarNode) else "a key is no text"
            what = "merges another mapping" if key.value == "<<" else what
            place = Place(path, line)
            raise InputError(f"{place}: {name}: {what}; write each setting as KEY: 'VALUE'", place)
        yield Setting(key.value, "" if value.tag == NULL else value.value, line)


def line_of(node: yaml.Node) -> int:
    """The line on which it begins, from 1."""
    return int(node.start_mark.line) + 1


HEADING = re.compile(r"(ReadWrite|Readonly|All) Bookies :")
BOOKIE = re.compile(r"BookieID:([^,\s]+)")


def listed_bookies(text: str) -> Part:
    """The number of bookies that can be written to, or of all if only all are listed; the others are noted."""
    bookies, heading, lines = dict[str, dict[str, None]](), "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), start=1):
        if found := HEADING.search(line):
            heading = found[1]
            lines[heading] = number
        for name in BOOKIE.findall(line):
            bookies.setdefault(heading, {})[name] = None
    counted = "ReadWrite" if "ReadWrite" in bookies else "All" if "All" in bookies else heading
    readonly = len(bookies.get("Readonly", {})) if counted == "ReadWrite" else 0
    notes = (f"{count_of(readonly, 'bookie')} can only be read, and {'is' if readonly == 1 else 'are'} not counted",)
    return Part(
        "listbookies", [Setting(REPLICAS, str(len(bookies[counted])), lines.get(counted, 1))], notes if readonly else ()
    )


def placed_bookies(node: yaml.Node) -> Part | None:
    """The bookies with their racks, or the list of them, in a document; None of another one."""
    listed = child(node, "bookies")
    if isinstance(listed, yaml.SequenceNode) and listed.value and all(scalar(one, "bookieId") for one in listed.value):
        return Part("list-bookies", [Setting(REPLICAS, str(len(listed.value)), line_of(listed))])
    groups = [value for _, value in node.value] if isinstance(node, yaml.MappingNode) else []
    racks = dict[str, str]()
    for group in groups:
        for name, info in group.value if isinstance(group, yaml.MappingNode) else ():
            if not scalar(info, "rack"):
                return None
            racks[str(name.value)] = scalar(info, "rack")
    if not racks or not all(isinstance(group, yaml.MappingNode) for group in groups):
        return None
    sizes = Counter(racks.values())
    largest, lost = max(sorted(sizes.items()), key=lambda pair: pair[1])
    note = f"{count_of(len(sizes), 'rack')}: if {largest} is lost, {lost} of {count_of(len(racks), 'bookie')} are lost at once"
    return Part("racks-placement", [Setting(REPLICAS, str(len(racks)), line_of(node))], (note,))


SAID_BY: Mapping[Owner, AbstractSet[str]] = {
    "broker": {"clusterName", "brokerServicePort", "webServicePort", "managedLedgerDefaultEnsembleSize"},
    "bookie": {"bookiePort", "journalDirectories", "journalDirectory", "ledgerDirectories"},
}
"""The keys by which the settings of a running server are recognised: two of them."""

SAID_OF_CLUSTER = {"version", "brokers", "bookies", "racks"}
"""What a cluster says of itself; all but its version it may refuse to say."""


def said_by(node: yaml.Node) -> Part | None:
    """What a broker or a bookie says of its own settings (``pulsar-admin brokers get-runtime-config``, or ``server_config`` of
    a bookie's HTTP server), or a cluster of itself; None of another document."""
    entries = node.value if isinstance(node, yaml.MappingNode) else ()
    values = {key.value: value for key, value in entries if isinstance(key, yaml.ScalarNode)}
    if "version" in values and values.keys() <= SAID_OF_CLUSTER:
        facts = [Setting(BROKER_TAG, values["version"].value, line_of(values["version"]), written="version")]
        if isinstance(bookies := values.get("bookies"), yaml.SequenceNode) and bookies.value:
            facts.append(Setting(REPLICAS, str(len(bookies.value)), line_of(bookies)))
        return Part("what the cluster says", facts)
    for of, marks in SAID_BY.items():
        if len(marks & values.keys()) > 1 and "kind" not in values:
            flat = ((key, value, _flat(value)) for key, value in values.items())
            given = [Setting(key, text, line_of(value)) for key, value, text in flat if text is not None]
            return Part(f"the settings of a running {of}", given, of=of)
    return None


def _flat(node: yaml.Node) -> str | None:
    """A value as a properties file has it, a list with commas; None of what is no such value. A broker writes its values as
    Java's String.valueOf does: ``[a, b]``, ``Optional[8080]``, ``Optional.empty``."""
    if isinstance(node, yaml.SequenceNode):
        return ",".join(str(one.value) for one in node.value)
    if not isinstance(node, yaml.ScalarNode) or node.tag == NULL or node.value == "Optional.empty":
        return None
    shown = re.fullmatch(r"(?:Optional)?\[(.*)\]", node.value)
    return ",".join(part.strip() for part in shown[1].split(",")) if shown else str(node.value)


MARKS = ("replication_clusters", "backlog_quota_map", "persistence", "message_ttl_in_seconds", "bundles")
"""Keys by which policies are recognised: two of them."""

INSTEAD_OF: Mapping[str, str] = {
    "persistence.bookkeeperEnsemble": "managedLedgerDefaultEnsembleSize",
    "persistence.bookkeeperWriteQuorum": "managedLedgerDefaultWriteQuorum",
    "persistence.bookkeeperAckQuorum": "managedLedgerDefaultAckQuorum",
    "persistence.managedLedgerMaxMarkDeleteRate": "managedLedgerDefaultMarkDeleteRateLimit",
    "deduplicationEnabled": "brokerDeduplicationEnabled",
    "message_ttl_in_seconds": "ttlDurationDefaultInSeconds",
    "subscription_expiration_time_minutes": "subscriptionExpirationTimeMinutes",
    "retention_policies.retentionTimeInMinutes": "defaultRetentionTimeInMinutes",
    "retention_policies.retentionSizeInMB": "defaultRetentionSizeInMB",
    "backlog_quota_map.destination_storage.limitSize": "backlogQuotaDefaultLimitBytes",
    "backlog_quota_map.destination_storage.limit": "backlogQuotaDefaultLimitBytes",
    "backlog_quota_map.destination_storage.policy": "backlogQuotaDefaultRetentionPolicy",
    "backlog_quota_map.message_age.limitTime": "backlogQuotaDefaultLimitSecond",
    "backlog_quota_map.message_age.policy": "backlogQuotaDefaultRetentionPolicy",
    "inactive_topic_policies.inactiveTopicDeleteMode": "brokerDeleteInactiveTopicsMode",
    "inactive_topic_policies.deleteWhileInactive": "brokerDeleteInactiveTopicsEnabled",
    "autoTopicCreationOverride.allowAutoTopicCreation": "allowAutoTopicCreation",
    "compaction_threshold": "brokerServiceCompactionThresholdInBytes",
    "delayed_delivery_policies.active": "delayedDeliveryEnabled",
    "offload_policies.managedLedgerOffloadDriver": "managedLedgerOffloadDriver",
    "entryFilters.entryFilterNames": "entryFilterNames",
    "offload_threshold": "offload_threshold",
    "replication_clusters": "replication_clusters",
}
"""The setting of the brokers in whose place a policy counts, by the path of the policy."""

OF_LEDGERS = "persistence."


def is_policies(node: yaml.Node) -> bool:
    """Whether a document is the policies of a namespace."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    keys = {key.value for key, _ in pairs if isinstance(key, yaml.ScalarNode)}
    return len(keys & set(MARKS)) >= 2 and "kind" not in keys


def settings_of(node: yaml.Node) -> Iterator[Setting]:
    """The settings that the policies override, with their lines. Ledgers of size 0 are those of the broker."""
    for path, key in INSTEAD_OF.items():
        value: yaml.Node | None = node
        for name in path.split("."):
            value = child(value, name)
        if value is None or (isinstance(value, yaml.ScalarNode) and value.tag == NULL):
            continue
        text = ",".join(part.value for part in value.value) if isinstance(value, yaml.SequenceNode) else str(value.value)
        if not (path.startswith(OF_LEDGERS) and text == "0"):
            yield Setting(key, text, line_of(value), written=path)


KAAP = ("kaap.oss.datastax.com/", "com.datastax.oss/")
STREAMNATIVE = ("pulsar.streamnative.io/", "bookkeeper.streamnative.io/")
KINDS = {"PulsarBroker": "broker", "BookKeeperCluster": "bookkeeper"}
OWNERS: dict[str, Owner] = {"broker": "broker", "bookkeeper": "bookie"}
TAG_OF = {"broker": BROKER_TAG, "bookkeeper": BOOKIE_TAG}
AS_THEY_ARE = ("PULSAR_", "BOOKIE_")


def is_custom(manifest: yaml.MappingNode) -> bool:
    """Whether it is a resource of one of the operators, with brokers or bookies."""
    return bool(_components(manifest))


def parts_of_resources(path: Path, manifests: Sequence[yaml.MappingNode]) -> Iterator[Part]:
    """What they say of brokers and of bookies, and of images and replicas. InputError, with the line, for a component that is
    there twice, or settings that are no mapping."""
    facts, seen = list[Setting](), dict[str, yaml.Node]()
    for manifest in manifests:
        for component, (node, config, image) in _components(manifest).items():
            if component in seen:
                places = f"lines {line_of(seen[component])} and {line_of(node)}"
                raise InputError(f"{path}: has two resources of {component}s, {places}", Place(path, line_of(node)))
            seen[component] = node
            kind = scalar(manifest, "kind") or "the chart of KAAP"
            note = f"{path}: what the operator sets of itself for the {component} is not in its resource, and was not read"
            yield Part(
                f"the {component} of {kind}",
                [*_settings(path, config, component, manifest)],
                (note,),
                OWNERS[component],
                "pulsar",
            )
            if image is not None and (tag := _tag(str(image.value))):
                facts.append(Setting(TAG_OF[component], tag, line_of(image), written=f"image of the {component}"))
            replicas = child(node, "replicas")
            if component == "bookkeeper" and isinstance(replicas, yaml.ScalarNode):
                facts.append(Setting(REPLICAS, str(replicas.value), line_of(replicas), written="replicas"))
    if facts:
        yield Part("images and replicas", facts)


Component = tuple[yaml.Node, yaml.Node | None, yaml.ScalarNode | None]


def _components(manifest: yaml.MappingNode) -> dict[str, Component]:
    """By name the brokers and the bookies of a resource: their node, their settings, and the image that they run."""
    version, kind = scalar(manifest, "apiVersion"), scalar(manifest, "kind")
    if version.startswith(STREAMNATIVE) and kind in KINDS:
        spec = child(manifest, "spec")
        return (
            {} if spec is None else {KINDS[kind]: (spec, child(child(spec, "config"), "custom"), _text(child(spec, "image")))}
        )
    chart = child(child(manifest, "kaap") or manifest, "cluster")
    spec = child(manifest, "spec") if version.startswith(KAAP) else child(chart, "spec")
    usual, found = child(child(spec, "global"), "image"), dict[str, Component]()
    for component in OWNERS:
        node = child(spec, component)
        if node is not None:
            found[component] = node, child(node, "config"), _text(child(node, "image")) or _text(usual)
    return found


def _settings(path: Path, config: yaml.Node | None, component: str, manifest: yaml.MappingNode) -> Iterator[Setting]:
    if config is None:
        return
    if not isinstance(config, yaml.MappingNode):
        raise InputError(f"{path}: the settings of the {component} are no mapping", Place(path, line_of(config)))
    entries = list(entries_of(path, config, f"the settings of the {component}"))
    if not scalar(manifest, "apiVersion").startswith(STREAMNATIVE):
        entries = [one if one.key.startswith(AS_THEY_ARE) else replace(one, key=f"{PREFIX}{one.key}") for one in entries]
    yield from as_applied(entries)


def _text(node: yaml.Node | None) -> yaml.ScalarNode | None:
    return node if isinstance(node, yaml.ScalarNode) and node.value else None


def _tag(image: str) -> str:
    """The tag of an image; empty if it has none."""
    name, _, tag = image.rpartition(":")
    return tag if name and "/" not in tag else ""
