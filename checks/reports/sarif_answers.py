"""The answers to what users ask first, in SARIF: a rule for each question, and its result, whatever the answer is."""

from __future__ import annotations

from typing import Any

from fencepost.checks.questions.answering import Answer
from fencepost.checks.reports.answers import covered, headline, in_short, ordered
from fencepost.checks.reports.sarif_log import rule

KINDS = {"yes": "fail", "for a while": "fail", "as ordered": "informational", "no": "pass", "unknown": "open"}
"""By the answer, what SARIF calls such a result. What settings order is nothing to mend."""


def answer_id(answer: Answer) -> str:
    """The name of the rule of a question."""
    return f"answer/{answer.matter.name}"


def answer_rule(answer: Answer) -> dict[str, Any]:
    """The rule of a question."""
    helps = "The message has each way in which it happens. To see the ways one by one: fencepost check --conf FILE --way N"
    return rule(answer_id(answer), answer.matter.asks, helps, kind="answer", tags=["answer"])


def answer_message(answer: Answer) -> str:
    """Yes or no in the first line, then each way, what settings order, and what keeps other bugs from it."""
    ways = (f"{number}. {in_short(way)}" for number, way in enumerate(answer.ways, 1))
    lines = [*ways, *ordered(answer), *covered(answer)]
    return "\n".join([headline(answer), *(["", *lines] if lines else [])])


def answer_result(answer: Answer) -> dict[str, Any]:
    """The result of a question, with the names of the ways; apart from where it is in the repository."""
    kind = KINDS[answer.value]
    return {
        "ruleId": answer_id(answer),
        "kind": kind,
        "level": "error" if kind == "fail" else "none",
        "message": {"text": answer_message(answer)},
        "properties": {"answer": answer.value, "ways": [way.name for way in answer.ways]},
    }
