"""``fencepost releases order``: which to upgrade first, by the known bugs that there are on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from fencepost.checks.commands.releases.request import OrderRequest
from fencepost.checks.console.printing import in_format, screen
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.counts import count_of
from fencepost.model.releases import ReleaseError, Releases, modelled
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS

FORMAT = 1

BOOKIES, BROKERS = "bookies", "brokers"


@dataclass(frozen=True)
class Order:
    """One of the two orders: who is upgraded ``first``, what runs ``on_the_way``, and of the known bugs there which the first
    step has ``fixed`` or ``brought``, and which are ``left`` to the second."""

    first: str
    on_the_way: Releases
    fixed: Sequence[str]
    brought: Sequence[str]
    left: Sequence[str]

    @property
    def bugs(self) -> int:
        """How many known bugs there are on the way that are not there both before and after."""
        return len(self.brought) + len(self.left)


def run(request: OrderRequest) -> ExitStatus:
    """Prints both orders. Raises ReleaseError for a release of Pulsar that is not modelled."""
    then, now = (Releases.of(modelled("pulsar", number)) for number in (request.first, request.second))
    if then == now:
        raise ReleaseError(f"{request.first} is named twice: name the release that runs, and the one to which it is upgraded")
    orders = orders_of(then, now)
    print(in_format(request.format, text=lambda: _text(then, now, orders), json=lambda: _as_json(then, now, orders)), end="")
    return ExitStatus.HOLDS


def orders_of(then: Releases, now: Releases) -> list[Order]:
    """The two orders from one release of Pulsar to another, the bookies first and the brokers first."""
    between = {
        BOOKIES: Releases(then.pulsar, now.bookkeeper, client=then.client),
        BROKERS: Releases(now.pulsar, then.bookkeeper, client=now.client),
    }
    before, after = _bugs(then), _bugs(now)
    return [_order(first, way, before, after) for first, way in between.items()]


def _order(first: str, way: Releases, before: Mapping[str, Bug], after: Mapping[str, Bug]) -> Order:
    there = _bugs(way)
    return Order(
        first,
        way,
        fixed=[name for name in before if name not in there],
        brought=[name for name in there if name not in before],
        left=[name for name in there if name in before and name not in after],
    )


def _bugs(releases: Releases) -> dict[str, Bug]:
    """The known bugs of these releases that harm somebody, by name."""
    every = ((name, entry.bugs[name]) for entry in PROTOCOLS.values() for name in entry.bugs_of(releases))
    return {name: bug for name, bug in every if bug.costs}


def _text(then: Releases, now: Releases, orders: Sequence[Order]) -> str:
    return "\n".join(_lines(then, now, orders)) + "\n"


def _lines(then: Releases, now: Releases, orders: Sequence[Order]) -> Iterator[str]:
    yield f"from {then} to {now}"
    for order in orders:
        yield ""
        yield f"{order.first} first: on the way {order.on_the_way}"
        for words, names in (("fixed by then", order.fixed), ("new", order.brought), ("still there", order.left)):
            yield from _named(words, names, {**_bugs(then), **_bugs(now)} if words != "fixed by then" else {})
    few, more = sorted(orders, key=lambda order: order.bugs)
    yield ""
    if few.bugs == more.bugs:
        yield f"either way {count_of(few.bugs, 'known bug')} on the way that one of the two releases does not have"
    else:
        yield f"fewer known bugs on the way with {few.first} first: {few.bugs}, against {more.bugs}"
    yield "They are counted, not weighed. What each way costs with your settings, say"
    for way in (order.on_the_way for order in orders):
        yield f"  fencepost check --conf broker.conf --pulsar {way.pulsar} --bookkeeper {way.bookkeeper}"
    yield "Not known: what bugs of both releases do together, since no model has both."


def _named(words: str, names: Sequence[str], bugs: Mapping[str, Bug]) -> Iterator[str]:
    """A line with the names or, of those that are harmful on the way, a line for each with what happens."""
    if not bugs or not names:
        yield from wrap(f"  {words}: {', '.join(names) or 'none'}", screen(), subsequent_indent="    ")
        return
    yield f"  {words}:"
    yield from (f"    {name}: {bugs[name].plain or bugs[name].costs}" for name in names)


def _as_json(then: Releases, now: Releases, orders: Sequence[Order]) -> str:
    document = {
        "format": FORMAT,
        "from": _numbers(then),
        "to": _numbers(now),
        "orders": [
            {
                "first": order.first,
                "on_the_way": _numbers(order.on_the_way),
                "fixed": list(order.fixed),
                "brought": list(order.brought),
                "left": list(order.left),
            }
            for order in orders
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _numbers(releases: Releases) -> dict[str, str]:
    return {"pulsar": releases.pulsar, "bookkeeper": releases.bookkeeper, "bookkeeper_client": releases.client}
