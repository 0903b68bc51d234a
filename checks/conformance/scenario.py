"""A run that real code has taken, as a Maven project of its own that anyone can run without us."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.checks.conformance.java_side.classfiles import Classes
from fencepost.checks.conformance.java_side.harness import JAVA, OPTIONS, Harness, Ingredients
from fencepost.checks.conformance.java_side.jars import Release
from fencepost.checks.conformance.java_side.session import Told
from fencepost.checks.conformance.running.adapter import Adapter
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.properties.registry import written
from fencepost.properties.vocabulary import Property
from fencepost.traces.files.writing import write_text

SCENARIO = JAVA / "scenario" / "Scenario.java"
_JUNIT, _SUREFIRE, _COMPILER = "5.10.2", "3.2.5", "3.11.0"
_UNDER_WAY = ("requests", "operations")
"""Of what the code shows: what is outstanding is no end."""

_START = "restart"
"""The action of every protocol that starts what has crashed."""

_WIDTH = 110


class NotSeenError(Exception):
    """A run that the code does not take as the trace has it; the message says where they part."""


@dataclass(frozen=True)
class Scenario:
    """A run as real code took it: each step with what was asked of the bench for it, and what the code showed in the end.

    ``why`` says what is wrong with that end.
    """

    protocol: Protocol
    harness: Harness
    ingredients: Ingredients
    outcome: Outcome
    begin: Mapping[str, object]
    requests: tuple[Mapping[str, object], ...]
    taken: tuple[str, ...]
    end: Mapping[str, object]
    violated: Property | None = None

    @property
    def why(self) -> str:
        """What should not be in the end, as a sentence."""
        if self.violated is not None:
            return f"{self.violated.name} is violated: {' '.join(self.violated.doc.split())}"
        return "the code differs from what its model expects: " + "; ".join(map(str, self.outcome.differences))


@dataclass
class _Heard:
    asked: list[Mapping[str, object]] = field(default_factory=list)
    seen: Told = field(default_factory=dict)

    def __call__(self, request: Mapping[str, object], answer: Told) -> None:
        self.asked.append(request)
        self.seen = answer.get("seen", self.seen)


def scenario(protocol: Protocol, labels: Sequence[str], adapter: Adapter, violated: Property | None = None) -> Scenario:
    """Has the code of an adapter take the steps with these labels, and notes how.

    What is down in the end is started again, because nothing of it can be seen otherwise. Raises NotSeenError unless the code
    takes all steps and agrees with the model at each, or, if no property is ``violated``, differs after the last one; and if
    the property speaks of what is not observed. Raises SessionError.
    """
    if hidden := unseen(protocol, violated, adapter):
        raise NotSeenError(f"{violated.name if violated else ''} speaks of what is not observed: {', '.join(hidden)}")
    heard, kernel = _Heard(), Kernel(protocol)
    adapter.session.listener = heard
    try:
        outcome = Pair(kernel, adapter).follow([*labels, *restarts(kernel, labels)] if violated else labels)
    finally:
        adapter.session.listener = None
    whole = outcome.verdict == "agrees" if violated else outcome.verdict == "differs"
    if not whole:
        raise NotSeenError(str(outcome))
    harness = adapter.session.harness
    assert harness.ingredients is not None
    begin, *requests = heard.asked
    taken = [step.action for step in outcome.trace.steps if step.action.partition("(")[0] not in adapter.eager]
    end = {name: value for name, value in heard.seen.items() if name not in _UNDER_WAY}
    return Scenario(protocol, harness, harness.ingredients, outcome, begin, tuple(requests), tuple(taken), end, violated)


def unseen(protocol: Protocol, violated: Property | None, adapter: Adapter) -> list[str]:
    """The families of variables of a property that nothing observed shows: of its violation the code would be no witness.

    What the harness itself brought about needs no witness, nor how many faults there were.
    """
    if violated is None:
        return []
    shown = {family for observable in adapter.observables for family in observable.variables} | set(adapter.shown_by_requests)
    own = {*protocol.budgets, *adapter.brought_about}
    return sorted({variable.family for variable in protocol.variables_of(violated.formula)} - shown - own)


def restarts(kernel: Kernel, labels: Sequence[str]) -> list[str]:
    """The steps that start all that is down after a run of these labels; none if they are no run."""
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    state, starts = kernel.initial()[0], []
    for label in labels:
        if numbers.get(label) not in kernel.enabled(state):
            return []
        state = kernel.apply(state, numbers[label])
    while due := [n for n in kernel.enabled(state) if kernel.actions[n].name == _START]:
        state = kernel.apply(state, due[0])
        starts.append(kernel.actions[due[0]].label)
    return starts


def write_project(case: Scenario, folder: Path, classes: Classes | None = None) -> list[Path]:
    """Writes the project; returns its files. ``classes`` tell the lines of methods. Raises OSError."""
    name = f"{_camel(case.violated.name if case.violated else case.protocol.name)}Test"
    tests = folder / "src" / "test" / "java"
    files = {
        folder / "pom.xml": pom(case.ingredients.release),
        folder / "README.md": readme(case, name, classes),
        tests / "fencepost" / f"{name}.java": java_test(case, name),
        tests / "fencepost" / SCENARIO.name: SCENARIO.read_text(encoding="utf-8"),
        folder / "src" / "test" / "resources" / "log4j2.properties": "status = off\nrootLogger.level = off\n",
    }
    for source in case.ingredients.sources:
        text = source.read_text(encoding="utf-8")
        package = re.search(r"^package ([\w.]+);", text, re.MULTILINE)
        assert package is not None
        files[tests.joinpath(*package[1].split(".")) / source.name] = text
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return list(files)


def pom(release: Release) -> str:
    """The Maven project: the release, and JUnit."""
    junit = (
        "<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>"
        f"<version>{_JUNIT}</version><scope>test</scope></dependency>"
    )
    plugins = (
        _plugin("maven-compiler-plugin", _COMPILER, "<release>17</release>"),
        _plugin("maven-surefire-plugin", _SUREFIRE, "<trimStackTrace>false</trimStackTrace>"),
    )
    build = f"<build><plugins>{''.join(plugins)}</plugins></build>"
    bare = release.pom().rstrip()
    bare = bare.replace("<artifactId>conformance</artifactId>", "<artifactId>scenario</artifactId>", 1)
    text = bare.replace("</dependencies></project>", f"{junit}</dependencies>{build}</project>")
    return re.sub(r"(</\w+>|<(?:dependencies|build|plugins|dependencyManagement)>)(?=<)", r"\1\n", text) + "\n"


def _plugin(name: str, version: str, configuration: str) -> str:
    group = "<groupId>org.apache.maven.plugins</groupId>"
    return (
        f"<plugin>{group}<artifactId>{name}</artifactId><version>{version}</version>"
        f"<configuration>{configuration}</configuration></plugin>"
    )


def java_test(case: Scenario, name: str) -> str:
    """The test: one call for each step, and what must not be in the end."""
    arguments = "".join(f", {_quoted(argument)}" for argument in case.harness.arguments)
    options = [option for option in (*OPTIONS, *case.ingredients.options) if "log4j2" not in option]
    lines = [f"            run.begin({_java(case.begin)});"]
    docs = {action.name: action.doc for action in case.protocol.actions}
    for number, (label, request) in enumerate(zip(case.taken, case.requests, strict=True), start=1):
        doc = " ".join((docs[label.partition("(")[0]] or "").split())
        lines += [f"            // {part}" for part in textwrap.wrap(f"{number}. {doc}", _WIDTH)]
        lines.append(f"            run.step({_quoted(label)}, {_java(request)});")
    method = _camel(case.violated.name if case.violated else "differs")
    return "\n".join(
        [
            "package fencepost;",
            "",
            "import java.util.List;",
            "import org.junit.jupiter.api.Test;",
            "",
            f"/** {case.why} Fails where {case.ingredients.release} does so; see README.md. */".replace("*/ */", "*/"),
            f"class {name} {{",
            "    /** Of the JVM: quick to start, and what Netty asks for. */",
            "    private static final List<String> OPTIONS = List.of(",
            "            " + ",\n            ".join(map(_quoted, options)) + ");",
            "",
            "    @Test",
            f"    void {method[0].lower()}{method[1:]}() throws Exception {{",
            f"        try (Scenario run = new Scenario(OPTIONS, {_quoted(case.ingredients.main)}{arguments})) {{",
            *lines,
            f"            run.mustNotEndWith({_java(case.end)},",
            f"                    {_quoted(case.why)});",
            "        }",
            "    }",
            "}",
            "",
        ]
    )


def readme(case: Scenario, name: str, classes: Classes | None) -> str:
    """What the run shows, how to run it, and the upstream methods of each step."""
    parameters = ", ".join(f"{key}={written(value)}" for key, value in case.protocol.parameters.items())
    bugs = ", ".join(case.protocol.active)
    lines = [
        f"# {case.why.partition(':')[0]}, on {case.ingredients.release}",
        "",
        *textwrap.wrap(case.why, _WIDTH),
        "",
        f"The run has {count_of(len(case.taken), 'step')}, which {case.ingredients.release} takes, in a JVM of its own.",
        "Around them, requests and answers are held until the test lets them go. With JDK 17 or newer and Maven:",
        "",
        "    mvn -q test",
        "",
        f"The test, `src/test/java/fencepost/{name}.java`, **fails** where the release does so, and says what it saw. It is",
        "**skipped** where the code does not go this way: then the reason says at which step.",
        f"To try another release, change `{_version_of(case.ingredients.release)}` in `pom.xml`.",
        "",
        "| step | what happens | upstream |",
        "|---|---|---|",
    ]
    docs = {action.name: action for action in case.protocol.actions}
    for number, label in enumerate(case.taken, start=1):
        action = docs[label.partition("(")[0]]
        doc = " ".join((action.doc or "").split())
        lines.append(f"| {number} `{label}` | {doc} | {', '.join(_upstream(m, classes) for m in action.mirrors)} |")
    lines += [
        "",
        f"Found with Fencepost in its protocol `{case.protocol.name}` with {parameters}"
        + (f", and the bugs {bugs} of the release." if bugs else "."),
        "Steps that the code takes by itself as soon as it can are not listed. Lines are those of the release's jar.",
        "",
    ]
    return "\n".join(lines)


def _upstream(method: str, classes: Classes | None) -> str:
    name, _, own = method.rpartition(".")
    places = (classes.where(full, own) for full in classes.named(name)) if classes else ()
    where = next((place for place in places if place is not None), None)
    return f"`{method}`" + (f" ({where[0].rpartition('/')[2]}:{where[1]})" if where and where[1] else "")


def _version_of(release: Release) -> str:
    return f"<version>{release.version}</version>"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _java(value: Mapping[str, object]) -> str:
    """A JSON object as a Java string, with single quotes where JSON has double ones."""
    text = json.dumps(value, ensure_ascii=True, separators=(", ", ": "))
    if "'" not in text and '\\"' not in text:
        text = text.replace('"', "'")
    return _quoted(text)


def _quoted(text: str) -> str:
    """A Java string, in parts that fit on a line."""
    parts = _pieces(text)
    return '"\n                    + "'.join(json.dumps(part, ensure_ascii=True)[1:-1] for part in parts).join('""')


def _pieces(text: str) -> Iterator[str]:
    while len(text) > _WIDTH:
        cut = text.rfind(" ", 0, _WIDTH) + 1 or _WIDTH
        yield text[:cut]
        text = text[cut:]
    yield text
