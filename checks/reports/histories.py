"""The history of mistakes as tables and reports tell it: releases as columns, issues upstream with their addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fencepost.checks.reports.seen import seen
from fencepost.model.history import History

COLUMNS = ("since", "fixed", "upstream")
"""What stands in a table beside the releases."""

NEVER = "never"
"""Since when there is a mistake that no release ever had."""

UNREAD = "unread"
"""Whether a release has a mistake of which nobody has read it."""


def rows(history: Mapping[str, History]) -> Iterator[tuple[str, list[str]]]:
    """Of each mistake its name and a cell for each modelled release, since when it is there and where it is fixed."""
    for name, explanation in history.items():
        cells = [_cell(explanation, release) for release in explanation.modelled]
        ever = bool(explanation.since or explanation.fixed or explanation.present)
        yield name, [*cells, explanation.since if ever else NEVER, explanation.ending]


def upstream(history: History) -> Sequence[str]:
    """The issues of a mistake, each with its project."""
    return [f"{history.project}{issue}" if issue.startswith("#") else issue for issue in history.upstream]


def about(history: History, protocol: str, name: str) -> list[str]:
    """What there is to know of a hazard, by the name of its protocol and its own, line by line."""
    fixed = f"fixed in {history.fixed}" if history.fixed else "open: no release that was read fixes it"
    numbers = ", ".join(upstream(history)) or "no report found upstream"
    lines = [f"costs: {history.costs}"] if history.costs else []
    lines.append(f"since {history.since}; {fixed}; {numbers}")
    lines += [f"avoided by {history.avoided_by}"] if history.avoided_by else []
    lines += [f"with {name} {' or '.join(map(str, values))} only" for name, values in (history.only or {}).items()]
    return lines + [f"seen on real code, {release}: {what}" for release, what in seen(protocol, name).items()]


def address(history: History, issue: str) -> str:
    """Where an issue of the history is to be read: a number is one of GitHub, a word and a number one of Apache's Jira."""
    if issue.startswith("#"):
        return f"https://github.com/apache/{history.project}/issues/{issue[1:]}"
    return f"https://issues.apache.org/jira/browse/{issue}"


def _cell(history: History, release: str) -> str:
    """Of a release that has the mistake: with which values, if not with all; empty of one that does not have it."""
    if release in history.unread:
        return UNREAD
    if release not in history.present:
        return ""
    only = history.only or {}
    return ", ".join(str(x) if isinstance(x, str) else f"{x} {name}" for name, values in only.items() for x in values) or "yes"
