"""Java's TreeMap with a comparator that is no order: which key is the first depends on how the tree was balanced.

Mirrors put, fixAfterInsertion, rotateLeft and rotateRight of java.util.TreeMap, for a comparator that never says 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

LEFT, RIGHT = 0, 1


@dataclass(eq=False)
class _Node:
    key: str
    parent: _Node | None
    red: bool = True
    children: list[_Node | None] = field(default_factory=lambda: [None, None])

    @property
    def side(self) -> int:
        """On which side of its parent it is."""
        assert self.parent is not None
        return LEFT if self.parent.children[LEFT] is self else RIGHT


def first_key(keys: Iterable[str], compare: Callable[[str, str], int]) -> str | None:
    """The first key once all were put in, in this order; None if there is none."""
    root: _Node | None = None
    for key in keys:
        parent, side, node = None, LEFT, root
        while node is not None:
            parent, side = node, LEFT if compare(key, node.key) < 0 else RIGHT
            node = parent.children[side]
        added = _Node(key, parent)
        if parent is not None:
            parent.children[side] = added
        root = _balanced(root or added, added)
    while root is not None and root.children[LEFT] is not None:
        root = root.children[LEFT]
    return None if root is None else root.key


def _balanced(root: _Node, node: _Node) -> _Node:
    """The root after a red node was added: no red node has a red parent any more."""
    while node.parent is not None and node.parent.red:
        parent = node.parent
        above = parent.parent
        assert above is not None, "a red node is no root"
        side = parent.side
        other = above.children[1 - side]
        if other is not None and other.red:
            parent.red = other.red = False
            above.red = True
            node = above
            continue
        if node.side != side:
            root = _rotated(root, parent, side)
            node, parent = parent, node
        parent.red, above.red = False, True
        root = _rotated(root, above, 1 - side)
    root.red = False
    return root


def _rotated(root: _Node, node: _Node, side: int) -> _Node:
    """The root after a node went down on one side, and its child on the other came up in its place."""
    child, parent = node.children[1 - side], node.parent
    assert child is not None
    inner = child.children[side]
    node.children[1 - side] = inner
    if inner is not None:
        inner.parent = node
    child.parent = parent
    if parent is not None:
        parent.children[LEFT if parent.children[LEFT] is node else RIGHT] = child
    child.children[side], node.parent = node, child
    return child if parent is None else root
