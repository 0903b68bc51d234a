"""A run for the page of a job: ``python -m fencepost.checks.reports.summary FILE.sarif`` prints it in Markdown and, with
``--annotations``, what GitHub marks lines of a configuration by."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fencepost.checks.reports.annotations import command
from fencepost.checks.reports.markdown import plain
from fencepost.checks.reports.sarif_files import file_of
from fencepost.model.counts import count_of

SARIF_LIMIT = 20
"""Results that are shown; a page of GitHub takes 1 MiB, and all of them are in the file."""


def as_markdown(log: Mapping[str, Any]) -> str:
    """What a SARIF file of ``fencepost check`` says: what the settings guarantee, what is not as it should be, the notes."""
    (run,) = log["runs"]
    (invocation,) = run["invocations"]
    rules, results = run["tool"]["driver"]["rules"], run["results"]
    guarantees = [rule["shortDescription"]["text"] for rule in rules if rule.get("properties", {}).get("kind") == "guarantee"]
    notes = [notification["message"]["text"] for notification in invocation.get("toolExecutionNotifications", ())]
    outcome = _outcome(len(results), invocation["exitCode"], ended=invocation["executionSuccessful"])
    parts = [f"### Fencepost: {outcome}\n"]
    if guarantees:
        parts.append("".join(f"- {plain(sentence)}\n" for sentence in guarantees))
    parts += [_folded(result["message"]["text"], _place(result)) for result in results[:SARIF_LIMIT]]
    if len(results) > SARIF_LIMIT:
        parts.append(f"{len(results) - SARIF_LIMIT} more are in the SARIF file.\n")
    if notes:
        parts.append("<details><summary>notes</summary>\n\n" + "".join(f"- {plain(n)}\n" for n in notes) + "\n</details>\n")
    return "\n".join(parts)


def as_annotations(log: Mapping[str, Any]) -> str:
    """Of a SARIF file the workflow commands of GitHub for what is wrong with the configuration, at its line: a guarantee that
    falls short, a value that cannot be used."""
    (run,) = log["runs"]
    commands = ""
    for result in run["results"]:
        if result["ruleId"].startswith("guarantee/") or result["ruleId"] == "input":
            title, _, text = result["message"]["text"].partition("\n")
            places = [location["physicalLocation"] for location in result.get("locations", ())]
            file = file_of(places[0]["artifactLocation"]["uri"]) if places else ""
            line = places[0]["region"]["startLine"] if places else 1
            commands += command(result["kind"] != "open", file, line, title, text.strip() or title)
    return commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the summary of a SARIF file; 1 if it cannot be read, since the run that should have written it did not end."""
    file, *options = sys.argv[1:] if arguments is None else arguments
    annotates = "--annotations" in options
    try:
        log = json.loads(Path(file).read_text(encoding="utf-8"))
        print(as_annotations(log) if annotates else as_markdown(log), end="" if annotates else "\n")
    except (OSError, ValueError, KeyError, TypeError):
        if annotates:
            return 1
        print(f"### Fencepost: no result\n\n{plain(file)} is not the SARIF file of a finished run; see the log of the job.")
        return 1
    return 0


def _outcome(results: int, status: int, *, ended: bool) -> str:
    count = ("nothing found" if ended else "no answer") if not results else count_of(results, "result")
    return f"{count} (exit {status})"


def _place(result: Mapping[str, Any]) -> str:
    for location in result.get("locations", ()):
        physical = location["physicalLocation"]
        return f"{file_of(physical['artifactLocation']['uri'])}:{physical['region']['startLine']}"
    return ""


def _folded(message: str, place: str) -> str:
    head, _, rest = message.partition("\n")
    where = f" ({plain(place)})" if place else ""
    fence = "~~~~"
    body = f"{fence}text\n{rest.strip()}\n{fence}\n" if rest.strip() else ""
    return f"<details><summary>{plain(head)}{where}</summary>\n\n{body}\n</details>\n"


if __name__ == "__main__":
    sys.exit(main())
