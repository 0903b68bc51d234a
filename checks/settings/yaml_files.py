"""The brokers' settings in YAML: the values of a Helm chart, and Kubernetes' ConfigMaps, with the line of every key.

Of a chart's values it is ``broker.configData`` (Apache's chart and its relatives), also below the name of a chart that has that
one as a part; it becomes the data of a ConfigMap, and that the brokers' environment. A ConfigMap may hold a broker.conf, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from fencepost.checks.settings.environment_files import as_applied
from fencepost.checks.settings.input_files import InputError, Place
from fencepost.checks.settings.properties_file import MalformedEscape, Setting, settings

FILES = ("broker.conf", "standalone.conf")
"""The keys of a ConfigMap whose values are whole files."""

STRINGS = "tag:yaml.org,2002:str"
NULL = "tag:yaml.org,2002:null"
REMEDY = "give the values of a chart, with broker.configData, or the brokers' ConfigMap"


@dataclass(frozen=True)
class Part:
    """What a YAML file has of the brokers' settings: the name of the part that was read, its settings, and notes on it."""

    name: str
    settings: list[Setting]
    notes: tuple[str, ...] = ()


def is_yaml(path: Path, text: str) -> bool:
    """Whether a file is YAML (or JSON, which is YAML): by its name, or by what only such a file has at the beginning of a
    line."""
    known = path.suffix in (".yaml", ".yml", ".json")
    return known or re.search(r'^[\s{]*"?(apiVersion|configData)"?\s*:', text, re.MULTILINE) is not None


def brokers_part(path: Path, text: str) -> Part:
    """What a YAML file has of the brokers' settings.

    Raises InputError with the line if it is no YAML, has none, or has them more than once.
    """
    documents = list(_composed(path, text))
    manifests = [manifest for document in documents for manifest in _manifests(document)]
    maps = [one for one in manifests if _scalar(one, "kind") == "ConfigMap"]
    if maps:
        return _of_config_map(path, _brokers_own(path, maps))
    charts = [(name, node) for document in documents for name, node in _chart_values(document)]
    if len(charts) > 1:
        places = " and ".join(f"{name} on line {_line(node)}" for name, node in charts)
        raise InputError(f"{path}: has {places}; give a file with one of them", Place(path, _line(charts[1][1])))
    if not charts:
        raise InputError(f"{path}: has neither broker.configData nor a ConfigMap; {REMEDY}", Place(path))
    name, node = charts[0]
    entries = list(_entries(path, node, name))
    return Part(name, as_applied(entries), _unquoted(path, node))


def _composed(path: Path, text: str) -> Iterator[yaml.Node]:
    try:
        for node in yaml.compose_all(text, Loader=yaml.SafeLoader):
            if node is not None:
                yield node
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        place = Place(path, line)
        raise InputError(f"{place}: is not YAML: {error.problem or error.context}", place) from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is not YAML: {str(error).splitlines()[0]}", Place(path)) from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply for a configuration; {REMEDY}", Place(path)) from None


def _manifests(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    """The objects of Kubernetes in a document, those of a List one by one."""
    if isinstance(node, yaml.MappingNode):
        items = _child(node, "items")
        if isinstance(items, yaml.SequenceNode):
            yield from (item for item in items.value if isinstance(item, yaml.MappingNode))
        else:
            yield node


def _brokers_own(path: Path, maps: Sequence[yaml.MappingNode]) -> yaml.MappingNode:
    """The one ConfigMap that is the brokers': it has their file, or is labelled or named as theirs, or there is no other."""
    candidates = [one for one in maps if any(_child(_child(one, "data"), name) for name in FILES)]
    candidates = candidates or [one for one in maps if _scalar(_metadata(one, "labels"), "component") == "broker"]
    candidates = candidates or [one for one in maps if _name(one).endswith("broker")] or list(maps)
    if len(candidates) > 1:
        places = ", ".join(f"{_name(one)} on line {_line(one)}" for one in candidates)
        place = Place(path, _line(candidates[1]))
        raise InputError(f"{path}: has several ConfigMaps: {places}; give a file with the brokers' own", place)
    return candidates[0]


def _of_config_map(path: Path, node: yaml.MappingNode) -> Part:
    data = _child(node, "data")
    name = f"ConfigMap {_name(node)}"
    if not isinstance(data, yaml.MappingNode):
        raise InputError(f"{path}: {name} has no data; {REMEDY}", Place(path, _line(node)))
    for key, value in data.value:
        if key.value in FILES and isinstance(value, yaml.ScalarNode):
            return Part(f"{key.value} of {name}", _of_text(path, value))
    return Part(name, as_applied(list(_entries(path, data, name))), _unquoted(path, data))


def _of_text(path: Path, node: yaml.ScalarNode) -> list[Setting]:
    """The settings of a broker.conf that is a value: its lines are lines of the file if it is written as it is, after ``|``."""
    try:
        rows = settings(node.value.encode())
    except MalformedEscape as error:
        place = Place(path, _line(node) + error.line)
        raise InputError(f"{place}: {error}; double the backslash if it is meant as one", place) from None
    literal = node.style == "|"
    return [Setting(one.key, one.value, _line(node) + (one.line if literal else 0)) for one in rows]


def _chart_values(node: yaml.Node) -> Iterator[tuple[str, yaml.MappingNode]]:
    """The places of a chart's values with the brokers' settings, by their names."""
    if not isinstance(node, yaml.MappingNode):
        return
    charts = [("", node), *((f"{key.value}.", value) for key, value in node.value)]
    for name, chart in charts:
        values = _child(_child(chart, "broker"), "configData")
        if isinstance(values, yaml.MappingNode):
            yield f"{name}broker.configData", values


def _entries(path: Path, node: yaml.MappingNode, name: str) -> Iterator[Setting]:
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.value == "<<" or not isinstance(value, yaml.ScalarNode):
            what = "merges another mapping" if key.value == "<<" else f"{key.value} is no text"
            place = Place(path, line)
            raise InputError(f"{place}: {name}: {what}; write each setting as KEY: 'VALUE'", place)
        yield Setting(key.value, "" if value.tag == NULL else value.value, line)


def _unquoted(path: Path, node: yaml.MappingNode) -> tuple[str, ...]:
    """A note on values that are no text for YAML: Kubernetes takes only text."""
    lines = [value.start_mark.line + 1 for _, value in node.value if value.tag not in (STRINGS, NULL)]
    if not lines:
        return ()
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return (f"{path}:{lines[0]}: is not in quotes{more}: Kubernetes refuses a ConfigMap whose values are no text",)


def _child(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a key; of a key that is given twice the last, as most readers take it."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in reversed(pairs) if key.value == name), None)


def _scalar(node: yaml.Node | None, name: str) -> str:
    value = _child(node, name)
    return value.value if isinstance(value, yaml.ScalarNode) else ""


def _metadata(node: yaml.Node, name: str) -> yaml.Node | None:
    return _child(_child(node, "metadata"), name)


def _name(node: yaml.Node) -> str:
    return _scalar(_child(node, "metadata"), "name") or "without a name"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
