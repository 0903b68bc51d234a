"""What one run of an engine on one instance established."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.vocabulary import Property


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
