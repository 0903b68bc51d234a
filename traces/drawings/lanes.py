"""Who does what to whom: the steps of a trace as messages between the lanes of a sequence diagram.

There is a lane for each actor, and one for the store: what belongs to no actor and is changed by several, which is how the
protocols have the metadata of a ledger, the node of a lock, the layout of a namespace. What is sent at one step and arrives at
a later one has two arrows: an open one where it is sent, another where it arrives. Mermaid draws them from its own language.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fencepost.model.language import Action, Protocol, Variable
from fencepost.model.language.declarations import STORE
from fencepost.traces.trace import Trace
from fencepost.traces.wording.text import members_of


@dataclass(frozen=True)
class Arrow:
    """A message from lane to lane; ``under_way`` is one that is sent now and arrives later."""

    sender: str
    receiver: str
    under_way: bool = False

    def other(self, actor: str) -> str:
        """The lane that it goes to or comes from, seen from that of the actor."""
        return self.receiver if self.sender == actor else self.sender


@dataclass(frozen=True)
class Message:
    """An action as messages: from whom it hears to its actor, and from its actor to whom it sends.

    If it declares none of them there is one to the first other actor that it names, otherwise to the store if it changes that,
    otherwise none. Where a run takes it they are those that are sent there, otherwise those that do not depend on the state.
    """

    action: Action
    arrows: tuple[Arrow, ...]

    @property
    def actor(self) -> str:
        return self.action.actor

    @property
    def lanes(self) -> set[str]:
        """Who takes part."""
        return {self.actor, *(name for arrow in self.arrows for name in (arrow.sender, arrow.receiver))}


def messages(trace: Trace, protocol: Protocol) -> list[Message]:
    """The steps of a trace, each as a message; KeyError if the protocol lacks one of its actions."""
    known = {message.action.label: message for message in every_message(protocol)}
    place = {variable: number for number, variable in enumerate(protocol.variables)}
    steps = []
    for step, (before, after) in zip(trace.steps, pairwise(trace.states), strict=True):
        action, arrows = known[step.action].action, known[step.action].arrows
        posted = (
            Arrow(action.actor, who, under_way=True)
            for who, variable in action.posts.items()
            if _is_posted(action.posted(variable), before[place[variable]], after[place[variable]])
        )
        steps.append(Message(action, (*arrows, *posted)))
    return steps


def _is_posted(member: int | None, before: int, after: int) -> bool:
    """Whether something is sent, by what is on its way to the receiver before and after the step; ``member`` is what of it the
    step is about."""
    return before != after if member is None else bool(after >> member & 1)


def every_message(protocol: Protocol) -> list[Message]:
    """The actions of a protocol, each as a message."""
    actors = {action.actor for action in protocol.actions}
    shared = stored(protocol)
    return [_message(action, actors, shared) for action in protocol.actions]


def everyone(protocol: Protocol) -> list[str]:
    """All lanes that a run of the protocol may have: who acts in it, to whom else something is sent, and the store."""
    acting = [action.actor for action in protocol.actions]
    named = [name for action in protocol.actions for name in (action.hears, action.to, *action.posts) if name != STORE]
    return list(dict.fromkeys([*acting, *filter(None, named), STORE]))


def lanes(messages: Sequence[Message], protocol: Protocol) -> list[str]:
    """The actors that take part, in the order of the protocol, and then the store if it does."""
    among = set[str]().union(*(message.lanes for message in messages))
    return [name for name in everyone(protocol) if name in among]


def stored(protocol: Protocol) -> frozenset[str]:
    """The families of variables that are in the store: no actor is in their index, several actors change them, and they do not
    merely count how often something may happen."""
    actors = {action.actor for action in protocol.actions}
    changed_by = defaultdict[str, set[str]](set)
    for action in protocol.actions:
        for variable in action.updates.keys() - protocol.counters:
            changed_by[variable.family].add(action.actor)
    owned = {v.family for v in protocol.variables if any(u.label(i) in actors for u in v.universes for i in u)}
    return frozenset(name for name, by in changed_by.items() if len(by) > 1 and name not in owned)


def owners(variable: Variable, shared: frozenset[str]) -> list[str]:
    """Whose variable it is: the members of universes that index it, and the store if its family is ``shared``."""
    return members_of(variable) + ([STORE] if variable.family in shared else [])


def _message(action: Action, actors: set[str], shared: frozenset[str]) -> Message:
    if action.hears or action.to or action.posts:
        pairs = ((action.hears, action.actor), (action.actor, action.to))
        return Message(action, tuple(Arrow(*pair) for pair in pairs if all(pair) and pair[0] != pair[1]))
    named = [name for name in action.arguments.values() if name in actors and name != action.actor]
    in_store = [STORE] if action.actor != STORE and any(variable.family in shared for variable in action.updates) else []
    return Message(action, tuple(Arrow(action.actor, name) for name in [*named, *in_store][:1]))


def as_mermaid(trace: Trace, protocol: Protocol) -> str:
    """The trace as a sequence diagram in Mermaid's language, which GitHub and GitLab draw where it stands in Markdown.

    An action is an arrow from lane to lane, dotted and open where what is sent arrives later; that of a fault ends in a cross.
    An action that sends nothing is an arrow from its lane to itself. What repeats forever is in a frame.
    """
    steps = messages(trace, protocol)
    lane = {name: f"lane{number}" for number, name in enumerate(lanes(steps, protocol))}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {number} as {name}" for name, number in lane.items()]
    start = trace.loop.start if trace.loop and trace.loop.start < len(steps) else None
    for place, message in enumerate(steps):
        if place == start:
            lines.append("    loop forever")
        for arrow in message.arrows or [Arrow(message.actor, message.actor)]:
            way = "-x" if message.action.fault else "--)" if arrow.under_way else "->>"
            lines.append(f"    {lane[arrow.sender]}{way}{lane[arrow.receiver]}: {place + 1} {message.action.label}")
    lines += ["    end"] if start is not None else []
    if trace.violated is not None and lane:
        ends = dict.fromkeys(list(lane.values())[:: max(len(lane) - 1, 1)])
        lines.append(f"    Note over {','.join(ends)}: {trace.violated}")
    return "\n".join(lines) + "\n"
