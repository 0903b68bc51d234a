"""The version counts what the store does; its mark guards the only moments at which the ensembles change."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import And, Implies, all_of, how_many
from fencepost.properties.ledger.invariant.words import Words
from fencepost.properties.vocabulary import Suite


def version_lemmas(suite: Suite, w: Words) -> None:
    """Adds these lemmas to the suite."""
    s, recoverer, ended, active = w.s, w.recoverer, w.ended, w.active

    @suite.lemma
    def version_is_bounded() -> Any:
        """Only changes of ensemble, the mark of recovery, the close and the deletion raise the version."""
        return And(
            s.version <= s.changes + how_many(s.status != "open", ended, s.status == "deleted"),
            Implies(And(s.status == "open", s.writer == "changing"), s.version < s.changes),
        )

    @suite.lemma
    def recovery_has_marked() -> Any:
        """While a recovery goes on the ledger is not open any more."""
        return all_of(Implies(active(r), s.status != "open") for r in recoverer)
