"""The settings of brokers and bookies in YAML: the values of a Helm chart, and ConfigMaps, with the line of every key.

Of a chart's values it is ``broker.configData`` and ``bookkeeper.configData`` (Apache's chart and its relatives), also below
the name of a chart that has that one as a part. Each becomes the data of a ConfigMap, and that the environment of the brokers
or the bookies, whose image applies it to its own file. A ConfigMap may also hold such a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from fencepost.checks.inputs.input_files import InputError, Place
from fencepost.checks.inputs.settings_files import (
    PREFIX,
    REPLICAS,
    TAGS,
    MalformedEscape,
    Owner,
    Setting,
    as_applied,
    bookkeepers,
    settings,
)
from fencepost.checks.inputs.yaml_parts import (
    NULL,
    Part,
    child,
    entries_of,
    is_custom,
    is_policies,
    line_of,
    parts_of_resources,
    placed_bookies,
    said_by,
    scalar,
    settings_of,
)

FILES = ("broker.conf", "standalone.conf")
BOOKIES_FILES = ("bookkeeper.conf", "bk_server.conf")
"""The keys of a ConfigMap whose values are whole files."""

BOOKIES = ("bookie", "bookkeeper")
"""What the bookies' ConfigMap is labelled or called."""

LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
"""The same language, in C or in Python, which ends at the depth of its own calls."""

TOO_DEEP = "exceeded maximum nesting depth"
"""What the one in C says where it ends."""

STRINGS = "tag:yaml.org,2002:str"
PRINTED = "pulsar-admin brokers get-runtime-config, or namespaces policies,"
REMEDY = "give the values of a chart, with broker.configData or bookkeeper.configData, or a ConfigMap of brokers or bookies"


def parts_of(path: Path, text: str) -> list[Part]:
    """What a YAML file has of the settings of brokers and bookies, at least one part.

    Raises InputError with the line if it is no YAML, has none, or has them more than once.
    """
    documents = list(_composed(path, text))
    policies = [document for document in documents if is_policies(document)]
    if policies:
        return [Part("the policies of a namespace", [*settings_of(policies[0])], of="broker")]
    if documents and (said := said_by(documents[0]) or placed_bookies(documents[0])) is not None:
        return [said]
    manifests = [manifest for document in documents for manifest in _manifests(document)]
    if any(map(is_custom, manifests)):
        return [*parts_of_resources(path, manifests)]
    maps = [one for one in manifests if scalar(one, "kind") == "ConfigMap"]
    if maps:
        return list(_of_config_maps(path, maps))
    parts = []
    components: tuple[tuple[str, Owner], ...] = (("broker", "broker"), ("bookkeeper", "bookie"))
    for component, of in components:
        charts = [place for document in documents for place in _chart_values(document, component)]
        if len(charts) > 1:
            places = " and ".join(f"{name} on line {line_of(data)}" for name, data, _ in charts)
            raise InputError(f"{path}: has {places}; give a file with one of them", Place(path, line_of(charts[1][1])))
        for name, data, chart in charts:
            beside = _volumes(chart) if of == "bookie" else _offload(chart)
            entries = [*beside, *entries_of(path, data, name)]
            parts.append(Part(name, as_applied(entries), _unquoted(path, data), of, "pulsar"))
    facts = [fact for document in documents for fact in _deployed(document)] if parts else []
    if facts:
        parts.append(Part("image tags and replica counts", facts))
    if not parts:
        lacks = "has neither broker.configData nor bookkeeper.configData nor a ConfigMap"
        printed = f", and is not what {PRINTED} prints" if path.suffix == ".json" else ""
        raise InputError(f"{path}: {lacks}{printed}; {REMEDY}{', or what that prints' if printed else ''}", Place(path))
    return parts


def _composed(path: Path, text: str) -> Iterator[yaml.Node]:
    try:
        for node in yaml.compose_all(text, Loader=LOADER):
            if node is not None:
                yield node
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        place = Place(path, line)
        if error.problem == TOO_DEEP:
            raise _nested(path) from None
        raise InputError(f"{place}: is not YAML: {error.problem or error.context}", place) from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is not YAML: {str(error).splitlines()[0]}", Place(path)) from None
    except RecursionError:
        raise _nested(path) from None


def _nested(path: Path) -> InputError:
    return InputError(f"{path}: is nested too deeply for a configuration; {REMEDY}", Place(path))


def _manifests(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    """The objects of Kubernetes in a document, those of a List one by one."""
    if isinstance(node, yaml.MappingNode):
        items = child(node, "items")
        if isinstance(items, yaml.SequenceNode):
            yield from (item for item in items.value if isinstance(item, yaml.MappingNode))
        else:
            yield node


def _of_config_maps(path: Path, maps: Sequence[yaml.MappingNode]) -> Iterator[Part]:
    """The parts of the one ConfigMap that is the brokers', and of the one that is the bookies'."""
    brokers, bookies = _named_by(maps, FILES, ("broker",)), _named_by(maps, BOOKIES_FILES, BOOKIES)
    brokers = brokers or ([] if bookies else list(maps))
    for candidates, of, files in ((brokers, "brokers", FILES), (bookies, "bookies", BOOKIES_FILES)):
        if len(candidates) > 1:
            places = ", ".join(f"{_name(one)} on line {line_of(one)}" for one in candidates)
            place = Place(path, line_of(candidates[1]))
            raise InputError(f"{path}: has several ConfigMaps: {places}; give a file with the {of}' own", place)
        for one in candidates:
            yield _of_config_map(path, one, files, "bookie" if of == "bookies" else "broker")


def _named_by(maps: Sequence[yaml.MappingNode], files: Sequence[str], names: tuple[str, ...]) -> list[yaml.MappingNode]:
    """The ConfigMaps that have one of the files; if there is none, those that are labelled, else those that are called so."""
    having = [one for one in maps if any(child(child(one, "data"), name) for name in files)]
    having = having or [one for one in maps if scalar(_metadata(one, "labels"), "component") in names]
    return having or [one for one in maps if _name(one).endswith(names)]


def _of_config_map(path: Path, node: yaml.MappingNode, files: Sequence[str], of: Owner) -> Part:
    data = child(node, "data")
    name = f"ConfigMap {_name(node)}"
    if not isinstance(data, yaml.MappingNode):
        raise InputError(f"{path}: {name} has no data; {REMEDY}", Place(path, line_of(node)))
    for key, value in data.value:
        if key.value in files and isinstance(value, yaml.ScalarNode):
            whose: Owner = "" if key.value == "standalone.conf" else of
            return Part(f"{key.value} of {name}", _of_text(path, value), of=whose)
    entries, notes = list(entries_of(path, data, name)), _unquoted(path, data)
    if mine := bookkeepers(entries):
        return Part(name, mine, notes, "bookie", "bookkeeper")
    return Part(name, as_applied(entries), notes, of if _is_marked(node) else "", "pulsar")


def _is_marked(node: yaml.MappingNode) -> bool:
    """Whether a ConfigMap says by its label or its name whose it is."""
    known = ("broker", *BOOKIES)
    return scalar(_metadata(node, "labels"), "component") in known or _name(node).endswith(known)


def _of_text(path: Path, node: yaml.ScalarNode) -> list[Setting]:
    """The settings of a broker.conf that is a value: its lines are lines of the file if it is written as it is, after ``|``."""
    try:
        rows = settings(node.value.encode())
    except MalformedEscape as error:
        place = Place(path, line_of(node) + error.line)
        raise InputError(f"{place}: {error}; double the backslash if it is meant as one", place) from None
    literal = node.style == "|"
    return [Setting(one.key, one.value, line_of(node) + (one.line if literal else 0)) for one in rows]


def _chart_values(node: yaml.Node, component: str) -> Iterator[tuple[str, yaml.MappingNode, yaml.MappingNode]]:
    """The places of a chart's values with the settings of a component: their name, they, and all values of the component."""
    if not isinstance(node, yaml.MappingNode):
        return
    parts = ((key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode))
    charts = [("", node), *((f"{key.value}.", value) for key, value in parts)]
    for name, chart in charts:
        values = child(chart, component)
        data = child(values, "configData")
        if isinstance(values, yaml.MappingNode) and isinstance(data, yaml.MappingNode):
            yield f"{name}{component}.configData", data, values


def _volumes(bookkeeper: yaml.MappingNode) -> Iterator[Setting]:
    """The directories that Apache's chart makes of several volumes; its journals come before those of configData."""
    volumes = child(bookkeeper, "volumes")
    for name, key in (("journal", f"{PREFIX}journalDirectories"), ("ledgers", "ledgerDirectories")):
        several = child(child(volumes, name), "multiVolumes")
        if scalar(child(volumes, name), "useMultiVolumes") == "true" and isinstance(several, yaml.SequenceNode):
            paths = [scalar(volume, "mountPath") for volume in several.value]
            yield Setting(key, ",".join(paths), line_of(several))


def _offload(broker: yaml.MappingNode) -> Iterator[Setting]:
    """What Apache's chart makes of ``broker.storageOffload``: the driver, and what is called as in a broker.conf."""
    offload = child(broker, "storageOffload")
    for key, value in offload.value if isinstance(offload, yaml.MappingNode) else ():
        name = "managedLedgerOffloadDriver" if key.value == "driver" else key.value
        if name.startswith("managedLedger") and isinstance(value, yaml.ScalarNode):
            yield Setting(name, value.value, line_of(key))


def _deployed(node: yaml.Node) -> Iterator[Setting]:
    """The image tags and the number of bookies in the values of a chart, also below the name of a chart that has it as a
    part."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    for chart in (node, *(value for _, value in pairs)):
        if child(child(chart, "broker"), "configData") or child(child(chart, "bookkeeper"), "configData"):
            for key in (*TAGS, REPLICAS):
                value: yaml.Node | None = chart
                for name in key.split("."):
                    value = child(value, name)
                if isinstance(value, yaml.ScalarNode) and value.tag != NULL and value.value:
                    yield Setting(key, value.value, line_of(value))


def _unquoted(path: Path, node: yaml.MappingNode) -> tuple[str, ...]:
    """A note on values that are no text for YAML: Kubernetes takes only text."""
    lines = [value.start_mark.line + 1 for _, value in node.value if value.tag not in (STRINGS, NULL)]
    if not lines:
        return ()
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return (f"{path}:{lines[0]}: is not in quotes{more}: Kubernetes refuses a ConfigMap whose values are no text",)


def _metadata(node: yaml.Node, name: str) -> yaml.Node | None:
    return child(child(node, "metadata"), name)


def _name(node: yaml.Node) -> str:
    return scalar(child(node, "metadata"), "name") or "without a name"
