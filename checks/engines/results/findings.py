"""What one run of an engine on one instance established, and the properties that are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.model.language import Protocol
from fencepost.model.language.mistakes import guess
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.theorems import Theory
from fencepost.properties.vocabulary import Property, Suite


@dataclass(frozen=True)
class Findings:
    """The verdicts of one engine on one instance.

    ``notes`` say how far it went and what cut it short, ``suspicions`` what makes success doubtful, ``failures`` (of
    induction) which obligations do not hold. ``unneeded`` are the lemmas that a proof does without (None: nothing was proved,
    or it is not known), ``left`` the properties that are no matter for this engine, so that they have no verdict. ``seconds``
    is how long it took; it is no part of the comparison.
    """

    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    failures: tuple[str, ...] = ()
    unneeded: tuple[Property, ...] | None = None
    left: tuple[Property, ...] = ()
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Checked(Findings):
    """What was established, and of which instance."""

    entry: Entry | Theory
    instance: Instance
    protocol: Protocol

    @classmethod
    def of(cls, entry: Entry | Theory, instance: Instance, protocol: Protocol, findings: Findings) -> Checked:
        """The findings of an engine on this instance."""
        return cls(entry=entry, instance=instance, protocol=protocol, **vars(findings))

    @property
    def findings(self) -> Findings:
        """The same without the instance, to which another process has one of its own."""
        return Findings(**{each.name: getattr(self, each.name) for each in fields(Findings)})


class PropertyError(Exception):
    """A property that the instance does not have; the message lists those that it has."""


def chosen_of(suite: Suite, names: Sequence[str]) -> list[Property]:
    """The properties of these names, all of them if there are none; PropertyError for one that the instance does not have."""
    known = {p.name: p for p in suite.properties}
    for name in names:
        if name not in known:
            meant = guess(name, known)
            raise PropertyError(f"{suite.protocol.name} has no property {name!r}{meant} here; it has {', '.join(known)}")
    return [known[name] for name in names] or list(suite.properties)
