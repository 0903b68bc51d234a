"""The explorer's page: its template, style and script, with the traces inside, so that one file is all that a browser needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files

from fencepost.traces.explorer.content import Recording, content
from fencepost.traces.pages.markup import Html, filled, palette, script_data

ENGINE = "machine.js"
"""The part of the script that a worker runs as well."""

SCRIPTS = (
    *("recording.js", "rows.js", "timeline.js", "details.js", "state.js"),
    *("model.js", "files.js", "search.js", "runs.js", "choices.js", "explorer.js", "playing.js"),
)
"""The page's script in parts, each of which uses only what stands before it."""


def page(
    recordings: Sequence[Recording],
    progress: Callable[[str], None] = lambda text: None,
    data: Mapping[str, object] | None = None,
) -> str:
    """The page that shows these traces, of which there is at least one; ``progress`` hears what is done next, and ``data`` is
    their ``content``, if that is there."""
    return filled(
        _part("page.html"),
        title=_title(recordings),
        palette=palette(),
        style=_part("style.css"),
        engine=_part(ENGINE),
        script=Html("\n".join(_part(name) for name in SCRIPTS)),
        data=script_data(data or content(recordings, progress)),
    )


def _title(recordings: Sequence[Recording]) -> str:
    first = recordings[0].trace
    more = f" and {len(recordings) - 1} more" if len(recordings) > 1 else ""
    return f"{first.violated or first.protocol}{more}, {first.protocol}: a trace in Fencepost"


def _part(name: str) -> Html:
    return Html(files("fencepost.traces.explorer").joinpath(name).read_text(encoding="utf-8"))
