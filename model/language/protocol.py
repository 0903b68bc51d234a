"""A protocol: its universes, variables, initial states, guarded actions and bugs, built up by one function."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias, TypeVar, overload

from fencepost.model.language.actors import Actors, Manner, Talk, Values
from fencepost.model.language.circumstances import now
from fencepost.model.language.constants import Constants
from fencepost.model.language.declarations import Action, Family, Names, Variable
from fencepost.model.language.domains import Domain, Flag, Number, Universe, choice_of, subset_of
from fencepost.model.language.effects import Effect, Outcome
from fencepost.model.language.grounding import Definition, actions, members, values_of
from fencepost.model.language.mistakes import ArgumentError, Location, ModelError, doc_of, guess
from fencepost.model.language.moves import Move, Offer, P, R, Rule
from fencepost.model.language.parts import Copies, Scope
from fencepost.model.terms import values as terms
from fencepost.model.terms.nodes import S, Term
from fencepost.model.terms.traversal import substituted
from fencepost.model.terms.values import Choice, Condition, Subset

T = TypeVar("T")
Parameters: TypeAlias = "Mapping[str, Any]"
"""The sizes and options of an instance by name: each entry of the registry knows of which type they are."""

F = TypeVar("F", bound=Callable[..., Outcome])

W = TypeVar("W", bound=str)

Per: TypeAlias = "Universe | Sequence[Universe]"

_FEW = 5
"""Names that a message lists; of more it says where they are."""


MOST_MEMBERS = 4096
"""Members of a universe: of more no instance can be searched, and naming them alone takes gigabytes."""


class Protocol:
    """A set of guarded actions over finite variables.

    Everything about it is checked as it is built and a mistake raises ModelError. ``parameters`` are the instance's
    sizes and options as they are shown; ``bugs`` the mistakes that are known for this protocol, name to one line, or several
    such tables: its own and those of its parts; ``active`` those switched on.

    The words in which a protocol is written declare families of variables and actions. What becomes of a declaration is said by
    ``add_family``, ``add_actions`` and ``receivers``: here an instance, whose variables and actions are grounded. A kind of
    protocol that understands the same text in another way (``Circumstances.kind``) has these of its own.
    """

    is_finite = True
    """Whether it is an instance."""

    def __new__(cls, *_: object, **__: object) -> Protocol:
        return super().__new__(now().kind or cls)

    def __init__(
        self,
        name: str,
        *,
        doc: str = "",
        parameters: Parameters | None = None,
        bugs: Mapping[str, str] | Sequence[Mapping[str, str]] = (),
        active: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.doc = doc
        self.parameters = dict(parameters or {})
        self.bugs = _together(name, [bugs] if isinstance(bugs, Mapping) else bugs)
        self.active = tuple(sorted(set(active)))
        unknown = [d for d in self.active if d not in self.bugs]
        if unknown:
            meant = guess(unknown[0], self.bugs)
            known = ", ".join(sorted(self.bugs)[:_FEW]) or "none"
            more = f" and {len(self.bugs) - _FEW} more: fencepost list {name}" if len(self.bugs) > _FEW else ""
            raise ArgumentError(f"{name} has no bug {unknown[0]!r}{meant}; it has: {known}{more}")
        self.universes: dict[str, Universe] = {}
        self.variables: list[Variable] = []
        self.actions: list[Action] = []
        self.state: Any = Names(name)
        self.next: Any = Names(name)
        self.constants = Constants()
        self._names: dict[str, str] = {}  # what each name stands for
        self.budgets: dict[str, int] = {}
        """How often each kind of fault may happen, by the full name of the variable that counts it."""
        self.offers: dict[str, Offer] = {}
        """The moves of parts, by name."""
        self.steps: list[str] = []
        """The names of the actions that the instance has, steps and faults, in the order of their declaration."""
        self.scope = Scope(name, self.state, self.next)
        self.owners: dict[str, Scope] = {}
        """The part that has declared a variable, by the full name of the variable."""
        self.mirrors: dict[str, tuple[str, ...]] = {}
        """What each action mirrors in the real system, by the action's name: ``Class.method``, the main one first."""
        self.conditions: dict[str, Mapping[str, str]] = {}
        """The conditions in the mirrored methods that an action's guard stands for, by the action's name and the method."""
        self.actors = Actors()
        self.whole: Protocol = self
        """Of a slice the protocol that it was made of."""

    def _claim(self, kind: str, name: str) -> None:
        if not name.isidentifier() or name.startswith("_"):
            raise ModelError(f"{self.name}: {kind} {name!r}: a name is letters, digits and _, and starts with a letter")
        name = self.scope.name(name)
        taken = self._names.get(name)
        if taken is not None and {taken, kind} != {"universe", "part"}:  # copies may be called as the members are
            raise ModelError(f"{self.name}: {kind} {name}: the name is taken by a {taken}")
        self._names[name] = kind

    # --- parts

    @overload
    def include(
        self, prefix: str, part: Callable[..., T], /, *given: object, per: Universe, takes: Iterable[str] = (), **named: object
    ) -> Copies[T]: ...

    @overload
    def include(
        self,
        prefix: str,
        part: Callable[..., T],
        /,
        *given: object,
        per: None = None,
        takes: Iterable[str] = (),
        **named: object,
    ) -> T: ...

    def include(
        self,
        prefix: str,
        part: Callable[..., object],
        /,
        *given: object,
        per: Universe | None = None,
        takes: Iterable[str] = (),
        **named: object,
    ) -> object:
        """What ``part`` makes when it declares into this protocol: ``part(view, *given, **named)``, a class or a function.

        In the view each name begins with ``prefix`` and a dot; an empty prefix adds nothing. With ``per`` each member of a
        universe has a copy, and what these declare are families by it. The steps of a part are steps of this protocol; its
        moves, and the steps that ``takes`` names, only happen within other steps of this protocol, which call them.
        """
        if prefix:
            self._claim("part", prefix)
        called, taken = prefix or getattr(part, "__name__", str(part)), frozenset(takes)
        if isinstance(takes, str):
            raise ModelError(f'{self.name}: part {called} takes {takes!r}: write takes=("{takes}",)')
        places = [None] if per is None else [(per, member) for member in per]
        parts = []
        for number, place in enumerate(places):
            view = copy.copy(self)
            view.scope = self.scope.of(called, prefix, place, taken)
            view.state, view.next = view.scope.state, view.scope.next
            view._names = {} if number else self._names  # the names of the first copy are those of all
            parts.append(part(view, *given, **named))
            for name in sorted(taken):
                if view._names.get(view.scope.name(name)) != "action":
                    known = [known.rpartition(".")[2] for known, kind in view._names.items() if kind == "action"]
                    raise ModelError(f"{self.name}: part {called} has no step {name!r} to take{guess(name, known)}")
        return parts[0] if per is None else Copies(called, per, parts)

    # --- universes and variables

    def universe(self, name: str, size: int, prefix: str | None = None, *, names: Sequence[str] = ()) -> Universe:
        """A set of ``size`` like things named ``name``, whose members print as ``prefix`` and a number, or by ``names``."""
        self._claim("universe", name)
        if type(size) is not int or size < 0:
            raise ModelError(f"{self.name}: universe {name} has size {size!r}")
        if size > MOST_MEMBERS:
            raise ModelError(f"{self.name}: universe {name} has {size:,} members, and at most {MOST_MEMBERS:,} can be searched")
        if names and (len(names) != size or len(set(names)) != size):
            raise ModelError(f"{self.name}: universe {name} has {size} members and needs as many distinct names: {names}")
        full = self.scope.name(name)
        universe = self.universes.setdefault(full, Universe(full, size, prefix or name[0], tuple(names)))
        if universe.size != size:
            raise ModelError(f"{self.name}: universe {full} has {universe.size} members in one copy and {size} in another")
        return universe

    def upto(self, most: int) -> Iterable[int]:
        """The numbers from 0 to ``most``, both included, as a parameter of an action."""
        return range(most + 1)

    @overload
    def flag(self, name: str, *, init: object = False) -> Condition: ...
    @overload
    def flag(self, name: str, *, per: Per, init: object = False) -> Family[Condition]: ...
    def flag(self, name: str, *, per: Per = (), init: object = False) -> object:
        """A variable that is true or false."""
        return self.add_family(name, Flag(), per, init)

    @overload
    def number(self, name: str, low: int, high: int, *, init: object = None) -> terms.Number: ...
    @overload
    def number(self, name: str, low: int, high: int, *, per: Per, init: object = None) -> Family[terms.Number]: ...
    def number(self, name: str, low: int, high: int, *, per: Per = (), init: object = None) -> object:
        """A variable that holds an integer from ``low`` to ``high``; it starts at ``low`` unless told otherwise."""
        if type(low) is not int or type(high) is not int or high < low:
            raise ModelError(f"{self.name}: number {name} has no values: {low!r}..{high!r}")
        return self.add_family(name, Number(low, high), per, low if init is None else init)

    @overload
    def choice(self, name: str, of: Universe, *, init: object = None) -> Choice[int]: ...
    @overload
    def choice(self, name: str, of: Universe, *, per: Per, init: object = None) -> Family[Choice[int]]: ...
    @overload
    def choice(self, name: str, of: Universe, *, init: object = None, none: W) -> Choice[int | W]: ...
    @overload
    def choice(self, name: str, of: Universe, *, per: Per, init: object = None, none: W) -> Family[Choice[int | W]]: ...
    @overload
    def choice(self, name: str, of: Sequence[W], *, init: object = None) -> Choice[W]: ...
    @overload
    def choice(self, name: str, of: Sequence[W], *, per: Per, init: object = None) -> Family[Choice[W]]: ...
    def choice(self, name: str, of: Universe | Sequence[str], *, per: Per = (), init: object = None, none: str = "") -> object:
        """A variable that holds one of several names, or one member of a universe; it starts at the first.

        With ``none``, the name of the value that is no member, it starts there.
        """
        return self.add_family(name, choice_of(of, none), per, (none or 0) if init is None else init)

    @overload
    def subset(self, name: str, of: Universe, *, init: object = ()) -> Subset: ...
    @overload
    def subset(self, name: str, of: Universe, *, per: Per, init: object = ()) -> Family[Subset]: ...
    def subset(self, name: str, of: Universe, *, per: Per = (), init: object = ()) -> object:
        """A variable that holds a subset of a universe; it starts empty."""
        return self.add_family(name, subset_of(of), per, init)

    def budget(self, name: str, limit: int) -> str:
        """How often a kind of fault may happen: the counter ``name`` rises from 0 to ``limit`` with each that spends it."""
        self.number(name, 0, limit)
        self.budgets[self.scope.full(name)] = limit
        return name

    def counter(self, name: str) -> terms.Number:
        """How much of a budget is spent, by its full name."""
        counter = self.variable(name).term
        assert isinstance(counter, terms.Number)
        return counter

    @property
    def counters(self) -> frozenset[Variable]:
        """The variables that count what is taken from budgets."""
        return frozenset(self.constants[name] for name in self.budgets)

    def add_family(self, name: str, domain: Domain, per: Per, init: object) -> object:
        """Adds the variables of a family, or the one of that name, and returns its value, or the family."""
        self._claim("variable", name)
        if domain.bits > 64:
            raise ModelError(f"{self.name}: variable {name} needs {domain.bits} bits, and one variable has at most 64")
        universes: tuple[Universe, ...] = (per,) if isinstance(per, Universe) else tuple(per)
        copies, terms, nexts = len(self.scope.at), {}, {}
        for variable in members(self, name, domain, universes, init):
            self.variables.insert(_after(self.variables, variable.family) if copies else len(self.variables), variable)
            if self.scope.above is not None:
                self.owners[variable.name] = self.scope
            self.constants.add(variable)
            terms[variable.index[copies:]], nexts[variable.index[copies:]] = variable.term, variable.next
        self.scope.publish(name, terms, nexts)
        return getattr(self.state, name)

    def variable(self, name: str) -> Variable:
        """The variable of that full name, e.g. ``stored[b0]``; KeyError if there is none."""
        return self.constants[name]

    def initial_states(self) -> Iterator[tuple[int, ...]]:
        """Every initial state, as raw values in the order of ``variables``."""
        return product(*(v.initial for v in self.variables))

    # --- bugs

    def has(self, bug: str) -> bool:
        """Whether that bug is switched on; ModelError if the protocol does not list it."""
        if bug not in self.bugs:
            raise ModelError(f"{self.name} uses bug {bug!r}, which it does not list")
        return bug in self.active

    def rule(self, function: Callable[P, R]) -> Rule[P, R]:
        """Names a rule, so that a bug can take its place: ``rule.instead("bug", function)``."""
        return Rule(self, function)

    # --- actions

    def step(
        self,
        *,
        by: str,
        mirrors: str = "",
        fair: bool = False,
        spends: str | None = None,
        only_if: object = True,
        takes: str = "",
        hears: str = "",
        to: str = "",
        posts: Family[Any] | None = None,
        **parameters: Values,
    ) -> Callable[[F], F]:
        """Declares a step of the protocol, grounded over its parameters.

        ``by`` names the actor, or the parameter that is the actor; ``mirrors`` the methods of the real system that do this,
        ``Class.method`` with commas between, the main one first, where the guard stands for a condition of the method
        ``Class.method {condition}``, in the words of the code; ``fair`` marks the step as weakly fair; ``spends`` names the
        budget that each occurrence takes one from (with nothing in it the step is left out); ``only_if`` is false where the
        instance has no such step, because it could never be taken; a function says so of each of the arguments.

        ``takes`` names the number, of ``model/odds/numbers.toml``, that says how long the step takes or how often it happens. A
        step without one takes what the moves in it take, if they agree.

        What follows is for drawings. ``hears`` names the actor, the parameter or the ``store`` whose message reaches the
        actor by this step, and ``to`` whom one reaches that it sends. ``posts`` is the family of variables, one for each
        receiver, that holds what is on its way: of sets of what the step has a member of as a parameter, a message goes to each
        whose set has it after the step, otherwise to each whose variable changes.

        A parameter goes through a universe or other numbers; ``l=lambda b: current[b]`` is the member that a variable holds.

        The decorated function returns ``(guard, {variable: new value})``, and after the guard as much as happens at once:
        updates, moves of parts, ``either`` of such. Where the arguments alone settle that the guard is false, as ``old != new``
        is for twice the same member, there is no action.
        """
        talk = Talk(hears, to, posts)
        return self._action(Manner(by, parameters, mirrors, spends, only_if, fair=fair, talk=talk, takes=takes))

    def move(
        self,
        *,
        by: str,
        mirrors: str = "",
        fair: bool = False,
        spends: str | None = None,
        only_if: object = True,
        takes: str = "",
        alone: bool = True,
        **parameters: Values,
    ) -> Callable[[Callable[..., Outcome]], Callable[..., Effect]]:
        """Declares a step, like ``step``, that a part offers: it happens within a step of the protocol that includes the part.

        Whoever takes it calls it, with a member or a term for each parameter, and returns the outcome after the guard. Where
        the protocol is no part of another it is a step, unless ``alone`` is false.
        """
        return self._action(Manner(by, parameters, mirrors, spends, only_if, fair=fair, move=True, alone=alone, takes=takes))

    def fault(
        self,
        *,
        by: str,
        mirrors: str = "",
        spends: str | None = None,
        only_if: object = True,
        takes: str = "",
        **parameters: Values,
    ) -> Callable[[F], F]:
        """Declares a fault, like ``step``; ``spends`` names the budget that each occurrence takes one from."""
        return self._action(Manner(by, parameters, mirrors, spends, only_if, fault=True, takes=takes))

    def _action(self, manner: Manner) -> Callable[[Callable[..., Outcome]], Any]:
        if manner.spends is not None:
            manner = manner._replace(spends=self._budget(manner.spends))

        def declare(function: Callable[..., Outcome]) -> Move | Callable[..., Outcome]:
            short, name, doc = function.__name__, self.scope.name(function.__name__), doc_of(function)
            where = f"{self.name}: action {name}"
            self._claim("action", short)
            if not doc:
                raise ModelError(f"{where} has no docstring; say what the real system does there")
            mirrors, missing = manner.methods(where), manner.is_left_out(where, self.budgets)
            is_part = self.scope.above is not None
            if manner.move or (is_part and short in self.scope.takes):
                move = Move(self, name, function, manner, mirrors, missing)
                if is_part and manner.is_there(self.budgets):
                    self.offers.setdefault(name, Offer(move.location))
                if is_part or not manner.alone:
                    return move
            self.mirrors[name], self.conditions[name] = mirrors, manner.conditions()
            parameters = {**{u.name: u for u, _ in self.scope.at}, **values_of(self, where, manner)}
            self.actors.claim(where, manner.by, parameters, self.universes)
            posts = self.receivers(where, parameters, manner.talk, Location.of(function))
            if manner.is_there(self.budgets) and name not in self.steps:
                self.steps.append(name)
            if not missing:
                self.add_actions(Definition(name, doc, function, manner, posts))
            return move if manner.move else function

        return declare

    def _budget(self, name: str) -> str:
        """The full name of the budget that is meant: the part's own, or that of who includes it."""
        names = (scope.full(name) for scope in self.scope.enclosing)
        return next((full for full in names if full in self.budgets), name)

    def receivers(self, where: str, parameters: Mapping[str, object], talk: Talk, location: Location) -> Mapping[str, Variable]:
        """For each who may be sent something by an action the variable that holds it."""
        return self.actors.name(where, location, parameters, talk, self.variable)

    def add_actions(self, definition: Definition) -> None:
        """Adds the actions of a definition, those of copies of a part behind each other."""
        copies = self.scope.at
        for action in actions(self, definition):
            self.actions.insert(_after_name(self.actions, action.name) if copies else len(self.actions), action)

    def is_action_or_actor(self, name: str) -> bool:
        """Whether an action or an actor has that name; an action that this instance leaves out counts."""
        return self._names.get(name) == "action" or any(action.actor == name for action in self.actions)

    def formulates(self, kind: str) -> bool:
        """Whether statements of this kind are put into formulas: all are."""
        return True

    def vet(self, what: str, term: Term, *, primed: bool = False) -> None:
        """Raises ModelError, naming ``what``, unless the term is over this protocol's variables (and, if ``primed``, their
        next values) and uses only operators that the kernel compiles."""
        self.constants.vet(what, term, primed=primed)

    def range_of(self, number: Term) -> tuple[int, int]:
        """The least and the greatest value that a vetted term may have, as far as the variables' domains alone tell."""
        return self.constants.ranges.of(number)

    def after(self, action: Action, formula: S) -> S:
        """A formula over values and next values, as it stands before the action and speaks of the state after it."""
        return substituted(formula, ((v.next, action.updates.get(v, v.term)) for v in self.variables))

    def still(self, formula: S) -> S:
        """A formula over values and next values, as it stands where nothing changes."""
        return substituted(formula, ((v.next, v.term) for v in self.variables))

    def primed(self, formula: S) -> S:
        """A formula over values, said of the next values."""
        return substituted(formula, ((v.term, v.next) for v in self.variables))

    def next_variables_of(self, formula: Term) -> set[Variable]:
        """The variables whose value after a step the formula mentions."""
        return self.constants.next_variables_of(formula)

    def variables_of(self, formula: Term) -> frozenset[Variable]:
        """The variables whose value, before or after a step, the formula mentions."""
        return self.constants.variables_of(formula)


def _together(name: str, tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The bugs of several tables. Raises ModelError if one says of a name what another does not."""
    bugs: dict[str, str] = {}
    for table in tables:
        for bug, text in table.items():
            if bugs.setdefault(bug, text) != text:
                raise ModelError(f"{name}: bug {bug} has two texts: {bugs[bug]!r} and {text!r}")
    return bugs


def _after(variables: Sequence[Variable], family: str) -> int:
    """The place after the last variable of a family, or after all."""
    places = [place for place, variable in enumerate(variables, 1) if variable.family == family]
    return places[-1] if places else len(variables)


def _after_name(actions: Sequence[Action], name: str) -> int:
    """The place after the last action of a name, or after all."""
    places = [place for place, action in enumerate(actions, 1) if action.name == name]
    return places[-1] if places else len(actions)
