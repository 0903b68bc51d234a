"""The protocols that the checks of one command are about: one that is asked for again soon is not built again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from fencepost.checks.engines.plan import Task
from fencepost.model.language import Protocol
from fencepost.model.language.circumstances import Circumstances, now
from fencepost.model.own_sources import is_undisturbed
from fencepost.properties.registry import Value
from fencepost.properties.vocabulary import Suite

KEPT = 32
"""Protocols that are kept: each takes half a MiB or less, since they have most of their terms in common."""


class _What(NamedTuple):
    """All that decides what is built: the function, its arguments, with their types since yes is not 1, and how what is
    declared is understood."""

    function: Callable[..., Protocol]
    parameters: tuple[tuple[str, type, Value], ...]
    bugs: tuple[str, ...]
    circumstances: Circumstances

    @staticmethod
    def of(task: Task) -> _What:
        entry, usual = task.entry, {parameter.name: parameter.default for parameter in task.entry.parameters}
        every = sorted((usual | dict(task.instance.parameters)).items())
        return _What(entry.function, tuple((name, type(value), value) for name, value in every), tuple(task.bugs), now())


class _Built(NamedTuple):
    """A protocol, and what it was made of when it was built: nobody who has it may change it, and if somebody has, it is built
    again."""

    protocol: Protocol
    made_of: tuple[object, ...]

    @staticmethod
    def now(protocol: Protocol) -> _Built:
        return _Built(protocol, _made_of(protocol))

    @property
    def is_as_it_was(self) -> bool:
        return self.made_of == _made_of(self.protocol)


def _made_of(p: Protocol) -> tuple[object, ...]:
    tables = (tuple(table.items()) for table in (p.universes, p.parameters, p.bugs, p.budgets))
    return tuple(p.variables), tuple(p.actions), p.active, *tables


class SharedProtocols:
    """What makes the suites of tasks, each of a protocol that is shared with earlier ones; of a user's own code, which may make
    another each time, each has its own."""

    def __init__(self) -> None:
        self._built = OrderedDict[_What, _Built]()

    def suite(self, task: Task) -> Suite:
        """What ``task.suite()`` makes. Raises what that raises."""
        if not is_undisturbed():
            return task.suite()
        what = _What.of(task)
        known = self._built.pop(what, None)
        if known is None or not known.is_as_it_was:
            known = _Built.now(task.protocol())
        self._built[what] = known
        if len(self._built) > KEPT:
            self._built.popitem(last=False)
        return task.suite_of(known.protocol)
