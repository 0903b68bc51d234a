"""A run that was refused because of what it was given, in the formats of continuous integration: one error, at its line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.reports.documents import command, plain
from fencepost.checks.reports.failures import as_in_repository
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.report import as_json
from fencepost.checks.reports.sarif import fingerprints, log, physical, rule
from fencepost.checks.settings.files.input_files import STANDARD_INPUT, Place


@dataclass(frozen=True)
class Refusal:
    """Why nothing was checked, in a sentence; where the mistake is, if that is known; what the run ends with."""

    message: str
    status: ExitStatus
    place: Place | None = None

    @property
    def _title(self) -> str:
        return "wrong usage" if self.status == ExitStatus.USAGE else "the input cannot be used"

    def as_json(self) -> str:
        """One JSON object with the error."""
        error = {
            "message": self.message,
            "file": None if self.place is None else str(self.place.file),
            "line": self.place.line or None if self.place else None,
        }
        whole = json.loads(as_json(FinishedRun(notes=[self.message])))
        return json.dumps({**whole, "status": int(self.status), "error": error}, indent=2) + "\n"

    def as_sarif(self) -> str:
        """A SARIF log with one result."""
        result: dict[str, object] = {
            "ruleId": "input",
            "ruleIndex": 0,
            "kind": "fail",
            "level": "error",
            "message": {"text": self.message},
            "partialFingerprints": fingerprints("input", self.message),
        }
        if self.place is not None and self.place.file != STANDARD_INPUT:
            result["locations"] = [{"physicalLocation": physical(as_in_repository(self.place))}]
        invocation: dict[str, object] = {"executionSuccessful": False, "exitCode": int(self.status)}
        if "locations" not in result:  # a result without a place is shown nowhere
            invocation["toolExecutionNotifications"] = [{"level": "error", "message": {"text": self.message}}]
        usable = rule("input", "what the check was given can be used", "Correct what the message names; nothing was checked.")
        return log([usable], invocation, [result] if "locations" in result else [])

    def as_junit(self) -> str:
        """A JUnit suite with one error."""
        whole = Element("testsuites", name="fencepost", tests="1", failures="0", errors="1")
        suite = SubElement(whole, "testsuite", name="run", tests="1", failures="0", errors="1")
        case = SubElement(suite, "testcase", classname="fencepost", name="input")
        SubElement(case, "error", type=self.status.name.lower(), message=self.message)
        indent(whole)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(whole, encoding="unicode") + "\n"

    def as_markdown(self) -> str:
        """A heading and the sentence."""
        return f"### Fencepost: {self._title} (exit {int(self.status)})\n\n{plain(self.message)}\n"

    def as_annotation(self) -> str:
        """An annotation of GitHub."""
        if self.place is None or self.place.file == STANDARD_INPUT:
            return command(True, None, self._title, self.message)
        return command(True, as_in_repository(self.place), self._title, self.message)
