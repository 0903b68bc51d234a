"""The explorer's page: its template, style and script, with the traces inside, so that one file is all that a browser needs."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from fencepost.traces.explorer.content import Recording, content

ENGINE = "machine.js"
"""The part of the script that a worker runs as well."""

SCRIPTS = (
    *("recording.js", "rows.js", "timeline.js", "details.js", "state.js"),
    *("model.js", "files.js", "search.js", "runs.js", "choices.js", "explorer.js", "playing.js"),
)
"""The page's script in parts, each of which uses only what stands before it."""


def page(
    recordings: Sequence[Recording], progress: Callable[[str], None] = lambda text: None, told: Mapping[str, Any] | None = None
) -> str:
    """The page that shows these traces, of which there is at least one; ``progress`` is told what is done next, and ``told`` is
    their ``content``, if that is there."""
    data = json.dumps(told or content(recordings, progress), ensure_ascii=False, separators=(",", ":"))
    return Template(_part("page.html")).substitute(
        title=html.escape(_title(recordings)),
        style=_part("style.css"),
        engine=_part(ENGINE),
        script="\n".join(_part(name) for name in SCRIPTS),
        data=data.replace("<", "\\u003c"),  # nothing in it can end the element that it stands in
    )


def _title(recordings: Sequence[Recording]) -> str:
    first = recordings[0].trace
    more = f" and {len(recordings) - 1} more" if len(recordings) > 1 else ""
    return f"{first.violated or first.protocol}{more}, {first.protocol}: a trace in Fencepost"


def _part(name: str) -> str:
    return files("fencepost.traces.explorer").joinpath(name).read_text(encoding="utf-8")
