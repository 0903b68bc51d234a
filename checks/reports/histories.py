"""Bugs as tables and reports tell of them: releases as columns, issues upstream with their addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fencepost.checks.reports.bugs_on_code import seen
from fencepost.properties.bugs import Bug

COLUMNS = ("since", "fixed", "upstream")
"""What stands in a table beside the releases."""

WEAKENING = "weakening"
"""What stands for the release since which there is what no release ever had."""

UNREAD = "unread"
"""Whether a release has a bug of which nobody has read it."""


def rows(bugs: Mapping[str, Bug]) -> Iterator[tuple[str, list[str]]]:
    """Of each bug its name and a cell for each modelled release, since when it is there and where it is fixed."""
    for name, bug in bugs.items():
        cells = [_cell(bug, release) for release in bug.modelled]
        yield name, [*cells, WEAKENING if bug.weakening else bug.since, bug.ending]


def upstream(bug: Bug) -> Sequence[str]:
    """The issues of a bug, each with its project."""
    return [f"{bug.project}{issue}" if issue.startswith("#") else issue for issue in bug.upstream]


def about(bug: Bug, protocol: str, name: str) -> list[str]:
    """What there is to know of a bug, by the name of its protocol and its own, line by line."""
    fixed = bug.fix if bug.fixed or not bug.newest_read else f"open: {bug.fix}"
    numbers = ", ".join(upstream(bug)) or "no report found upstream"
    lines = [f"costs: {bug.costs}"] if bug.costs else []
    lines.append(f"since {bug.since}; {fixed}; {numbers}")
    lines += [f"avoided by {bug.avoided_by}"] if bug.avoided_by else []
    lines += [f"with {name} {' or '.join(map(str, values))} only" for name, values in bug.only.items()]
    return lines + [f"seen on real code, {release}: {what}" for release, what in seen(protocol, name).items()]


def address(bug: Bug, issue: str) -> str:
    """Where an issue is to be read: a number is one of GitHub, a word and a number one of Apache's Jira."""
    if issue.startswith("#"):
        return f"https://github.com/apache/{bug.project}/issues/{issue[1:]}"
    return f"https://issues.apache.org/jira/browse/{issue}"


def _cell(bug: Bug, release: str) -> str:
    """Of a release that has the bug: with which values, if not with all; empty of one that does not have it."""
    if release in bug.unread:
        return UNREAD
    if release not in bug.present:
        return ""
    only = bug.only
    return ", ".join(str(x) if isinstance(x, str) else f"{x} {name}" for name, values in only.items() for x in values) or "yes"
