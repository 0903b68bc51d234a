"""The custom resources of two operators of Kubernetes: KAAP's, and StreamNative's.

KAAP has one ``PulsarCluster`` (``kaap.oss.datastax.com``, before ``com.datastax.oss``), or a ``Broker`` and a ``BookKeeper``:
``spec.broker.config`` and ``spec.bookkeeper.config``, where BaseResourcesFactory.handleConfigPulsarPrefix puts PULSAR_PREFIX_
before every key that does not begin with PULSAR_ or BOOKIE_; ``image`` of a component, else of ``spec.global``. Its chart has
the same below ``cluster.spec``. StreamNative has a ``PulsarBroker`` (``pulsar.streamnative.io``) and a ``BookKeeperCluster``
(``bookkeeper.streamnative.io``): ``spec.image``, ``spec.replicas``, and settings in ``spec.config.custom``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from fencepost.checks.settings.cluster_settings import BOOKIES, BROKERS, REPLICAS
from fencepost.checks.settings.files.input_files import InputError, Place
from fencepost.checks.settings.files.properties_file import PREFIX, Owner, Setting, as_applied
from fencepost.checks.settings.files.yaml_nodes import Part, child, entries_of, line_of, scalar

KAAP = ("kaap.oss.datastax.com/", "com.datastax.oss/")
STREAMNATIVE = ("pulsar.streamnative.io/", "bookkeeper.streamnative.io/")
KINDS = {"PulsarBroker": "broker", "BookKeeperCluster": "bookkeeper"}
OWNERS: dict[str, Owner] = {"broker": "broker", "bookkeeper": "bookie"}
TAG_OF = {"broker": BROKERS, "bookkeeper": BOOKIES}
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
                facts.append(Setting(TAG_OF[component], tag, line_of(image)))
            replicas = child(node, "replicas")
            if component == "bookkeeper" and isinstance(replicas, yaml.ScalarNode):
                facts.append(Setting(REPLICAS, str(replicas.value), line_of(replicas)))
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
