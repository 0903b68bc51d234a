"""A small protocol for the tests of the language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fencepost.model.language import (
    Protocol,
)


class Shop:
    """A small protocol with a variable of each kind, to which a test adds the mistake."""

    def __init__(self) -> None:
        self.p = p = Protocol("shop", bugs={"sold_twice": "a thing is sold twice"})
        self.thing = p.universe("thing", 3)
        self.open = p.flag("open", init=True)
        self.price = p.number("price", 0, 7)
        self.owner = p.choice("owner", ["nobody", "alice", "bob"])
        self.mood = p.choice("mood", ["good", "bad"])
        self.favourite = p.choice("favourite", self.thing)
        self.shelf = p.subset("shelf", self.thing)
        self.sold = p.flag("sold", per=self.thing)
        self.thefts = p.budget("thefts", 1)

    def act(self, body: Callable[..., Any], **options: Any) -> None:
        """Adds a step named ``act`` with this body."""

        def act(**arguments: int) -> Any:
            """Does what the test says."""
            return body(**arguments)

        self.p.step(by="shop", **options)(act)


def named(name: str) -> Callable[[], Any]:
    def function() -> Any:
        """Does nothing."""
        return True, {}

    function.__name__ = name
    return function
