"""What identifies a protocol in any process: all that decides which states it has and what happens in them."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from fencepost.model.language.protocol import Protocol


def digest_of(protocol: Protocol, formulas: Iterable[Any] = ()) -> bytes:
    """A digest of a protocol's universes, variables and actions, in order, of the protocol that it is a slice of, and of
    formulas. A variable has its universes in it, and not only their labels, which two universes may share."""
    whole = sha256()
    for part in dict.fromkeys((protocol.whole, protocol)):
        _describe(part, whole)
    whole.update(b"".join([b"formulas", *(formula.digest for formula in formulas)]))
    return whole.digest()


def _describe(protocol: Protocol, whole: Any) -> None:
    whole.update(repr(list(protocol.universes.values())).encode())
    for v in protocol.variables:
        whole.update(repr((v.name, v.family, v.index, [u.name for u in v.universes], v.domain, v.initial)).encode())
    for action in protocol.actions:
        grounding = [(universe and universe.name, member) for universe, member in action.grounding]
        updates = [(variable.name, term.digest) for variable, term in action.updates.items()]
        whole.update(repr((action.label, action.name, grounding, action.guard.digest, updates)).encode())
