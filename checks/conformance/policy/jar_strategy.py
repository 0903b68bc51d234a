"""A shedder of a user's in Java: a LoadSheddingStrategy or a NamespaceUnloadStrategy of a jar, asked like a function of Python.

It runs in a JVM with the classes of the release whose rules are followed, one for each process. A run begins with an object of
its own, and each object has a class loader of its own, so that paired runs and replays stay what they are.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.java_side.toolchain import ToolchainError
from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.code import Code
from fencepost.checks.conformance.policy.extensible_clusters import world
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.broker_loads import broker_loads
from fencepost.model.balance.configuration import Configuration, Version
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.load_data import LoadData
from fencepost.model.balance.user_code import Called

_running = ExitStack()
atexit.register(_running.close)


class JarError(Exception):
    """A jar or a class that cannot be used, or no Java; the message is one line."""


class JarFault(Exception):
    """What a strategy threw."""


@dataclass(frozen=True)
class Opened:
    """Whether a class is of the extensible manager, and its static fields that can change."""

    is_extensible: bool
    shared: tuple[str, ...]


@dataclass(frozen=True)
class JarStrategy:
    """A class by name in a jar: the jar's file, the class with its package."""

    jar: str
    name: str

    def __str__(self) -> str:
        return f"{self.jar}:{self.name}"

    @property
    def call(self) -> Called:
        """The strategy as a shedder with a memory, which is the object of a run."""
        return self._shed

    def takes(self, arguments: int) -> bool:
        """It takes the load, the configuration and the memory."""
        return arguments in (2, 3)

    def message_of(self, error: BaseException) -> str:
        """An error with the class that it comes from."""
        return f"{self}: {error}"

    def tried(self, release: Version) -> Opened:
        """What the class is, by an object of it. Raises JarError if it cannot be used with this release."""
        opened = self._open(release)
        _ask(release, {"rule": "close", "session": opened["session"]})
        return Opened(opened["extensible"], tuple(opened["static"]))

    def _open(self, release: Version) -> Answer:
        jar = Path(self.jar).absolute()
        if not jar.is_file():
            raise JarError(f"{self.jar}: there is no such file; give the jar of your strategy")
        opened = _ask(release, {"rule": "open", "jar": str(jar), "class": self.name})
        if "refused" in opened:
            raise JarError(f"{self.jar}: {opened['refused']}")
        return opened

    def _shed(
        self, load: LoadData, conf: Configuration, memory: int | None
    ) -> tuple[dict[str, dict[str, str] | list[str]], int]:
        release = conf.pulsar_version
        session: int = self._open(release)["session"] if memory is None else memory
        known = replace(load, loads=broker_loads(load, conf))
        request = {**wire.load(load), **(world(known, Policies()) if conf.is_extensible else {})}
        asked = {"rule": "shed by", "session": session, "conf": wire.settings(conf), "active": list(load.brokers), **request}
        answer = _ask(release, asked)
        if "throws" in answer:
            raise JarFault(f"{answer['throws']}: {answer['message']}")
        meant = answer.get("destinations", {})
        unload = {
            broker: {bundle: meant[bundle] for bundle in bundles} if all(b in meant for b in bundles) else bundles
            for broker, bundles in answer["unload"].items()
        }
        return unload, session


@cache
def _code(release: Version, process: int) -> Code:
    """The JVM of a process; one that was forked has its own."""
    return _running.enter_context(Code(release))


def _ask(release: Version, request: Mapping[str, object]) -> Answer:
    try:
        (answer,) = _code(release, os.getpid()).ask([request])
    except (ToolchainError, SessionError) as error:
        raise JarError(str(error)) from error
    return answer
