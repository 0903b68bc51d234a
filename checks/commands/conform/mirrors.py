"""``fencepost conform mirrors``: are the methods that the actions mirror in the jars of their releases?"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from fencepost.checks.commands.conform.request import MirrorsRequest
from fencepost.checks.conformance.java_side.mirrors import Looked, look_up
from fencepost.checks.conformance.java_side.toolchain import ToolchainError, toolchain
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.releases import SYSTEMS, release
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import find

FORMAT = 1


def run(asked: MirrorsRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    for number in asked.release:
        release(number)
    entries = [find(name, PROTOCOLS) for name in asked.protocols or PROTOCOLS]
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin("mirrors")
    try:
        answers = look_up(entries, toolchain(), asked.release, reporter.telling)
    except ToolchainError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.SYSTEM
    finally:
        reporter.end()
    status = _status(answers)
    print(in_format(asked.format, text=lambda: _text(answers), json=lambda: _as_json(answers, status)), end="")
    return status


def _status(answers: Sequence[Looked]) -> ExitStatus:
    if any(looked.missing or looked.unexpected for looked in answers):
        return ExitStatus.SAFETY
    return ExitStatus.HOLDS if any(looked.holders for looked in answers) else ExitStatus.EVALUATION


def _text(answers: Sequence[Looked]) -> str:
    lines = []
    for protocol in dict.fromkeys(looked.protocol for looked in answers):
        its = [looked for looked in answers if looked.protocol == protocol]
        lines.append(f"{protocol}: {len(its)} methods of {SYSTEMS[its[0].project]} are mirrored")
        for number in its[0].asked:
            there = sum(number in looked.holders for looked in its)
            unread = sum(number in looked.unread for looked in its)
            elsewhere = len(its) - there - unread - sum(number in looked.missing for looked in its)
            more = f", {elsewhere} declared not to be" if elsewhere else ""
            more += f", {unread} not there, which is unread" if unread else ""
            lines.append(f"  {number}: {there} there{more}")
        for looked in its:
            by = f"{looked.method}, which {', '.join(looked.actions)} mirror{'s' if len(looked.actions) == 1 else ''}"
            lines += [f"  missing in {number}: {by}" for number in looked.missing]
            lines += [f"  declared not to be in {number}, and there: {by}" for number in looked.unexpected]
            lines += [f"  not in {number}, and unread: {by}" for number in looked.unread]
    return "\n".join(lines) + "\n" if lines else "no method was looked for\n"


def _as_json(answers: Sequence[Looked], status: ExitStatus) -> str:
    content = {
        "format": FORMAT,
        "exit_status": int(status),
        "methods": [
            {
                "protocol": looked.protocol,
                "project": looked.project,
                "method": looked.method,
                "actions": list(looked.actions),
                "found": list(looked.holders),
                "not_declared": list(looked.missing),
                "against_declaration": list(looked.unexpected),
                "unread": list(looked.unread),
            }
            for looked in answers
        ],
    }
    return json.dumps(content, indent=1) + "\n"
