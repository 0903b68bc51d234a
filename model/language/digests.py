"""What identifies a protocol in any process: all that decides which states it has and what happens in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from fencepost.model.language.protocol import Protocol
from fencepost.model.terms.values import Condition


def digest_of(protocol: Protocol, formulas: Iterable[Condition] = ()) -> bytes:
    """A digest of a protocol's universes, variables and actions, in order, of the protocol that it is a slice of, and of
    formulas. A variable has its universes in it, and not only their labels, which two universes may share."""
    whole = sha256()
    for part in dict.fromkeys((protocol.whole, protocol)):
        for line in _description(part):
            whole.update(line)
    whole.update(b"".join([b"formulas", *(formula.digest for formula in formulas)]))
    return whole.digest()


def _description(protocol: Protocol) -> Iterator[bytes]:
    yield repr(list(protocol.universes.values())).encode()
    for v in protocol.variables:
        yield repr((v.name, v.family, v.index, [u.name for u in v.universes], v.domain, v.initial)).encode()
    for action in protocol.actions:
        grounding = [(universe and universe.name, member) for universe, member in action.grounding]
        updates = [(variable.name, term.digest) for variable, term in action.updates.items()]
        yield repr((action.label, action.name, grounding, action.guard.digest, updates)).encode()
