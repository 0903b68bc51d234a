"""The bytecode of methods, compared between two releases: which are the same, which differ, and which are gone.

Lines, names of variables and the table of constants are no part of it, and of what a compiler numbers only what it does counts
(``java/bytecode/Methods.java``, on ASM). Of a method also those are compared that it calls in its own class, one level down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from fencepost.checks.conformance.java_side.harness import harness
from fencepost.checks.conformance.java_side.jars import Artifact, Release
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.java_side.toolchain import Toolchain

ASM = "9.10.1"
READER = Release(
    "bytecode",
    ASM,
    (
        *(Artifact(f"org.ow2.asm:{name}:{ASM}") for name in ("asm", "asm-tree", "asm-util")),
        Artifact("com.fasterxml.jackson.core:jackson-databind:2.17.2"),
    ),
)
"""What reads class files of every Java up to 25, and speaks with us."""


class OfMethod(TypedDict):
    """The digest of a method, and the methods of its class that it calls, by name and descriptor."""

    digest: str
    calls: list[str]


class OfClass(TypedDict):
    """The methods of a class by name and descriptor, and its parents."""

    methods: dict[str, OfMethod]
    parents: list[str]


@dataclass(frozen=True)
class Code:
    """What some classes do: of each, by its full name, its methods with their digests and calls, and its parents."""

    classes: Mapping[str, OfClass]

    def overloads(self, method: str) -> dict[str, OfMethod]:
        """The methods of that name, ``Class.method``, by class, name and descriptor; those of a parent where the class has
        none."""
        name, _, own = method.rpartition(".")
        found: dict[str, OfMethod] = {}
        for full in self.classes:
            if full.rpartition("/")[2].replace("$", ".") == name:
                found |= self._of(full, own)
        return found

    def _of(self, full: str, own: str) -> dict[str, OfMethod]:
        while full in self.classes:
            methods = self.classes[full]["methods"]
            if here := {f"{full}.{each}": methods[each] for each in methods if _name(each) in _names(full, own)}:
                return here
            full = next(iter(self.classes[full]["parents"]), "")
        return {}

    def digests(self, full: str, called: Iterable[str]) -> dict[str, str]:
        """The digests of methods of a class that one of its methods calls, by name and descriptor."""
        methods = self.classes[full]["methods"]
        return {each: methods[each]["digest"] for each in called if each in methods}


def _name(described: str) -> str:
    """The name of a method that is given with its descriptor."""
    return described.partition("(")[0]


def _names(full: str, method: str) -> tuple[str, str]:
    """The names that a method of a class can have: Scala puts the class's before that of a private one which others call."""
    return method, f"{full.replace('/', '$')}$${method}"


@dataclass(frozen=True)
class Change:
    """What became of a method: ``same``, ``changed``, ``gone``, ``new``, or ``nowhere`` where neither release has it.

    ``callees`` are the methods of its class that it calls and that changed, where it is the same itself.
    """

    method: str
    outcome: str
    callees: tuple[str, ...] = field(default=())

    @property
    def is_same(self) -> bool:
        """Whether the method is the same byte for byte, with what it calls in its class."""
        return self.outcome == "same" and not self.callees


def read(jars: Sequence[Path], methods: Iterable[str], tools: Toolchain) -> Code:
    """What the classes of these methods do in these jars. Raises ToolchainError or SessionError."""
    names = sorted({method.rpartition(".")[0] for method in methods})
    with Session(harness("bytecode", "fencepost.bytecode.MethodsBench", READER, tools=tools)) as session:
        classes: dict[str, OfClass] = {}
        while names:
            answer: dict[str, OfClass] = session.ask({"jars": [str(jar) for jar in jars], "classes": names})["classes"]
            classes |= answer
            parents = {each for of in answer.values() for each in of["parents"] if each not in classes}
            names = sorted({parent.rpartition("/")[2].replace("$", ".") for parent in parents})
    return Code(classes)


def compare(before: Code, after: Code, methods: Iterable[str]) -> dict[str, Change]:
    """What became of each method from one release to the other."""
    return {method: _change(method, before, after) for method in methods}


def _change(method: str, before: Code, after: Code) -> Change:
    old, new = before.overloads(method), after.overloads(method)
    if not old or not new:
        return Change(method, "gone" if old else "new" if new else "nowhere")
    if {each: of["digest"] for each, of in old.items()} != {each: of["digest"] for each, of in new.items()}:
        return Change(method, "changed")
    changed = set[str]()
    for each, of in old.items():
        full = each.partition("(")[0].rpartition(".")[0]
        was, now = (code.digests(full, of["calls"]) for code in (before, after))
        changed |= {_name(callee) for callee in was if was[callee] != now.get(callee)}
    return Change(method, "same", tuple(sorted(changed)))
