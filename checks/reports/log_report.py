"""Whether a log is explained by a run of the model: as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from fencepost.checks.conformance.logs.explanation import Explanation
from fencepost.checks.conformance.logs.mismatch import alternatives, possible, why_not
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.kernel import Kernel
from fencepost.traces.printable import printable

FORMAT = 1
_LINES = 5
"""Lines of the log that are named at most."""


def text(kernel: Kernel, found: Explanation, log: Path, out: Path | None = None, *, width: int = 120) -> str:
    """The report for a person."""
    fold = textwrap.TextWrapper(width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    events, unseen = len(found.events.events), found.unobserved_steps
    run = f"a run of {kernel.protocol.name} of {_many(len(found.run.steps), 'step')}, {unseen} of them not in the log"
    lines = []
    if found.whole:
        lines.append(f"{log}: {_many(events, 'event')}, explained by {run}")
    else:
        event = found.next
        assert event is not None
        why = found.stopped or f"no run of {kernel.protocol.name} explains this"
        lines.append(f"{log}:{event.line}: {printable(event.what)}: {why}")
        lines.append(f"  explained: the first {found.explained:,} of {_many(events, 'event')}, by {run}")
        lines.append(f"  possible there: {_many(len(found.possible), 'state')}")
        for name, shown in possible(kernel, found.possible).items():
            lines += [f"  {line}" for line in fold.wrap(f"{name} {alternatives(shown)}")]
        if not found.stopped:
            lines += [f"  {line}" for line in why_not(kernel, found, width - 2)]
    lines.append(f"  possible at once: at most {_many(found.widest, 'state')}")
    names = list(dict.fromkeys(kernel.actions[n].name for n in found.events.unobserved))
    lines += fold.wrap(f"assumed unobserved: {', '.join(names) or 'nothing'}")
    if found.events.unmatched:
        some = ", ".join(map(str, found.events.unmatched[:_LINES]))
        more = ", ..." if len(found.events.unmatched) > _LINES else ""
        lines.append(f"  lines without a match: {some}{more}")
    if out:
        lines.append(f"run: {out}")
    return "\n".join(lines) + "\n"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' if count != 1 else ''}"


def as_json(kernel: Kernel, found: Explanation, log: Path, status: ExitStatus, out: Path | None = None) -> str:
    """The report for programs."""
    event = found.next
    content: dict[str, Any] = {
        "format": FORMAT,
        "protocol": kernel.protocol.name,
        "parameters": dict(kernel.protocol.parameters),
        "defects": list(kernel.protocol.active),
        "log": str(log),
        "exit_status": int(status),
        "events": len(found.events.events),
        "explained": found.explained,
        "stopped": found.stopped or None,
        "steps": [step.action for step in found.run.steps],
        "unobserved_steps": found.unobserved_steps,
        "widest": found.widest,
        "unobserved": list(dict.fromkeys(kernel.actions[n].name for n in found.events.unobserved)),
        "unmatched_lines": list(found.events.unmatched),
        "next": None,
        "run": str(out) if out else None,
    }
    if event is not None:
        content["next"] = {
            "line": event.line,
            "what": event.what,
            "steps": None if event.steps is None else [kernel.actions[n].label for n in event.steps],
            "possible_states": len(found.possible),
            "possible": {name: list(shown) for name, shown in possible(kernel, found.possible).items()},
            "why": [] if found.stopped else why_not(kernel, found, 120),
        }
    return json.dumps(content, indent=1) + "\n"
