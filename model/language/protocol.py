"""A protocol: its universes, variables, initial states, guarded actions and defects, built up by one function."""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, overload

import z3

from fencepost.model.language.actors import Actors, Told
from fencepost.model.language.building import build
from fencepost.model.language.connectives import And
from fencepost.model.language.declarations import Action, Family, Names, OneOf, Taken, Variable
from fencepost.model.language.domains import Choice, Domain, Flag, Number, Universe, choice_of, subset_of
from fencepost.model.language.effects import Effect, Given, calls, effect
from fencepost.model.language.locations import Location
from fencepost.model.language.manner import Manner, Values
from fencepost.model.language.mistakes import ArgumentError, ModelError, guess, reason
from fencepost.model.language.moves import Move, Offer, which
from fencepost.model.language.nodes import Node, Nodes
from fencepost.model.language.operators import walk
from fencepost.model.language.parts import Copies, Scope
from fencepost.model.language.ranges import Ranges
from fencepost.model.language.rules import P, R, Rule

T = TypeVar("T")

_GROUNDING: ContextVar[type[Protocol] | None] = ContextVar("grounding", default=None)
_FEW = 5
"""Names that a message lists; of more it says where they are."""


@contextmanager
def grounded_as(grounding: type[Protocol]) -> Iterator[None]:
    """Within it whoever makes a protocol gets one of this kind, which understands the same text in another way."""
    before = _GROUNDING.set(grounding)
    try:
        yield
    finally:
        _GROUNDING.reset(before)


MOST_MEMBERS = 4096
"""Members of a universe: of more no instance can be searched, and naming them alone takes gigabytes."""


class Protocol:
    """A set of guarded actions over finite variables.

    Everything about it is checked as it is built and a mistake raises ModelError. ``parameters`` are the instance's
    sizes and options as they are shown; ``defects`` the mistakes that are known for this protocol, name to one line, or several
    such tables: its own and those of its parts; ``active`` those switched on.
    """

    def __new__(cls, *_: Any, **__: Any) -> Protocol:
        return super().__new__(_GROUNDING.get() or cls)

    def __init__(
        self,
        name: str,
        *,
        doc: str = "",
        parameters: Mapping[str, Any] | None = None,
        defects: Mapping[str, str] | Sequence[Mapping[str, str]] = (),
        active: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.doc = doc
        self.parameters = dict(parameters or {})
        self.defects = _together(name, [defects] if isinstance(defects, Mapping) else defects)
        self.active = tuple(sorted(set(active)))
        unknown = [d for d in self.active if d not in self.defects]
        if unknown:
            meant = guess(unknown[0], self.defects)
            known = ", ".join(sorted(self.defects)[:_FEW]) or "none"
            more = f" and {len(self.defects) - _FEW} more: fencepost list {name}" if len(self.defects) > _FEW else ""
            raise ArgumentError(f"{name} has no defect {unknown[0]!r}{meant}; it has: {known}{more}")
        self.universes: dict[str, Universe] = {}
        self.variables: list[Variable] = []
        self.actions: list[Action] = []
        self.state: Any = Names(name)
        self.next: Any = Names(name)
        self._by_term: dict[str, Variable] = {}
        self._names: dict[str, str] = {}  # what each name stands for
        self.budgets: dict[str, int] = {}
        """How often each kind of fault may happen, by the full name of the variable that counts it."""
        self.offers: dict[str, Offer] = {}
        """The moves of parts, by name."""
        self.steps: list[str] = []
        """The names of the actions that the instance has, steps and faults, in the order of their declaration."""
        self.scope = Scope(name, self.state, self.next)
        self._scopes: dict[str, Scope] = {}  # of the part that has declared a variable, by its full name
        self.mirrors: dict[str, tuple[str, ...]] = {}
        """What each action mirrors in the real system, by the action's name: ``Class.method``, the main one first."""
        self.nodes = Nodes()
        self.ranges = Ranges()
        self._of_node: dict[bool, dict[int, Variable]] = {False: {}, True: {}}  # by whether it is the next value
        self._vetted: dict[bool, set[int]] = {False: set(), True: set()}  # nodes, by whether next values may occur
        self.actors = Actors()
        self._mentioned: dict[int, frozenset[Variable]] = {}  # by node, too
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
        self, prefix: str, part: Callable[..., T], /, *given: Any, per: Universe, takes: Iterable[str] = (), **named: Any
    ) -> Copies[T]: ...

    @overload
    def include(
        self, prefix: str, part: Callable[..., T], /, *given: Any, per: None = None, takes: Iterable[str] = (), **named: Any
    ) -> T: ...

    def include(
        self,
        prefix: str,
        part: Callable[..., Any],
        /,
        *given: Any,
        per: Universe | None = None,
        takes: Iterable[str] = (),
        **named: Any,
    ) -> Any:
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
        made = []
        for number, place in enumerate(places):
            view = copy.copy(self)
            view.scope = self.scope.of(called, prefix, place, taken)
            view.state, view.next = view.scope.state, view.scope.next
            view._names = {} if number else self._names  # the names of the first copy are those of all
            made.append(part(view, *given, **named))
            for name in sorted(taken):
                if view._names.get(view.scope.name(name)) != "action":
                    known = [known.rpartition(".")[2] for known, kind in view._names.items() if kind == "action"]
                    raise ModelError(f"{self.name}: part {called} has no step {name!r} to take{guess(name, known)}")
        return made[0] if per is None else Copies(called, per, made)

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
        made = self.universes.setdefault(full, Universe(full, size, prefix or name[0], tuple(names)))
        if made.size != size:
            raise ModelError(f"{self.name}: universe {full} has {made.size} members in one copy and {size} in another")
        return made

    def upto(self, most: int) -> Iterable[int]:
        """The numbers from 0 to ``most``, both included, as a parameter of an action."""
        return range(most + 1)

    def flag(self, name: str, *, per: Any = (), init: Any = False) -> Any:
        """A variable that is true or false."""
        return self._declare(name, Flag(), per, init)

    def number(self, name: str, low: int, high: int, *, per: Any = (), init: Any = None) -> Any:
        """A variable that holds an integer from ``low`` to ``high``; it starts at ``low`` unless told otherwise."""
        if type(low) is not int or type(high) is not int or high < low:
            raise ModelError(f"{self.name}: number {name} has no values: {low!r}..{high!r}")
        return self._declare(name, Number(low, high), per, low if init is None else init)

    def choice(self, name: str, of: Universe | Sequence[str], *, per: Any = (), init: Any = None, none: str = "") -> Any:
        """A variable that holds one of several names, or one member of a universe; it starts at the first.

        With ``none``, the name of the value that is no member, it starts there.
        """
        return self._declare(name, choice_of(of, none), per, (none or 0) if init is None else init)

    def subset(self, name: str, of: Universe, *, per: Any = (), init: Any = ()) -> Any:
        """A variable that holds a subset of a universe; it starts empty."""
        return self._declare(name, subset_of(of), per, init)

    def budget(self, name: str, limit: int) -> str:
        """How often a kind of fault may happen: the counter ``name`` rises from 0 to ``limit`` with each that spends it."""
        self.number(name, 0, limit)
        self.budgets[self.scope.full(name)] = limit
        return name

    @property
    def counters(self) -> frozenset[Variable]:
        """The variables that count what is taken from budgets."""
        return frozenset(self._by_term[name] for name in self.budgets)

    def _declare(self, name: str, domain: Domain, per: Any, init: Any) -> Any:
        self._claim("variable", name)
        if domain.bits > 64:
            raise ModelError(f"{self.name}: variable {name} needs {domain.bits} bits, and one variable has at most 64")
        universes: tuple[Universe, ...] = (per,) if isinstance(per, Universe) else tuple(per)
        members: dict[tuple[int, ...], Any] = {}
        nexts: dict[tuple[int, ...], Any] = {}
        scope, family = self.scope, self.scope.name(name)
        owners = tuple(universe for universe, _ in scope.at)
        owned = tuple(member for _, member in scope.at)
        for index in itertools.product(*universes):
            full = scope.full(name, universes, index)
            value = init(*index) if callable(init) else init
            options = value.values if isinstance(value, OneOf) else (value,)
            try:
                initial = tuple(dict.fromkeys(domain.raw(option) for option in options))
            except ValueError as error:
                raise ModelError(f"{self.name}: initial value of {full}: {error}") from error
            if not initial:
                raise ModelError(f"{self.name}: {full} has no initial value")
            term, primed = domain.term(full), domain.term(full + "'")
            variable = Variable(full, family, (*owned, *index), (*owners, *universes), domain, initial, term, primed)
            self.variables.insert(_after(self.variables, family) if owners else len(self.variables), variable)
            if scope.above is not None:
                self._scopes[full] = scope
            self._by_term[full] = variable
            for is_next, constant in ((False, self.nodes.of(term)), (True, self.nodes.of(primed))):
                self._of_node[is_next][constant.identity] = variable
                self.ranges.declare(constant, domain)
            members[index], nexts[index] = term, primed
        scope.publish(name, members, nexts)
        return getattr(self.state, name)

    def variable(self, name: str) -> Variable:
        """The variable of that full name, e.g. ``stored[b0]``; KeyError if there is none."""
        return self._by_term[name]

    def initial_states(self) -> Iterator[tuple[int, ...]]:
        """Every initial state, as raw values in the order of ``variables``."""
        return itertools.product(*(v.initial for v in self.variables))

    # --- defects

    def has(self, defect: str) -> bool:
        """Whether that defect is switched on; ModelError if the protocol does not list it."""
        if defect not in self.defects:
            raise ModelError(f"{self.name} uses defect {defect!r}, which it does not list")
        return defect in self.active

    def rule(self, function: Callable[P, R]) -> Rule[P, R]:
        """Names a rule, so that a defect can take its place: ``rule.instead("defect", function)``."""
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
        hears: str = "",
        to: str = "",
        posts: Family | None = None,
        **parameters: Values,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a step of the protocol, grounded over its parameters.

        ``by`` names the actor, or the parameter that is the actor; ``mirrors`` the methods of the real system that do this,
        ``Class.method`` with commas between, the main one first; ``fair`` marks the step as weakly fair; ``spends`` names
        the budget that each occurrence takes one from (with nothing in it the step is left out); ``only_if`` is false where
        the instance has no such step, because it could never be taken; a function says so of each of the arguments.

        What follows is for drawings. ``hears`` names the actor, the parameter or the ``store`` whose message reaches the
        actor by this step, and ``to`` whom one reaches that it sends. ``posts`` is the family of variables, one for each
        receiver, that holds what is on its way: of sets of what the step has a member of as a parameter, a message goes to each
        whose set has it after the step, otherwise to each whose variable changes.

        A parameter goes through a universe or other numbers; ``l=lambda b: current[b]`` is the member that a variable holds.

        The decorated function returns ``(guard, {variable: new value})``, and after the guard as much as happens at once:
        updates, moves of parts, ``either`` of such. Where the arguments alone settle that the guard is false, as ``old != new``
        is for twice the same member, there is no action.
        """
        return self._action(Manner(by, parameters, mirrors, spends, only_if, fair=fair, told=Told(hears, to, posts)))

    def move(
        self,
        *,
        by: str,
        mirrors: str = "",
        fair: bool = False,
        spends: str | None = None,
        only_if: object = True,
        alone: bool = True,
        **parameters: Values,
    ) -> Callable[[Callable[..., Any]], Callable[..., Effect]]:
        """Declares a step, like ``step``, that a part offers: it happens within a step of the protocol that includes the part.

        Whoever takes it calls it, with a member or a term for each parameter, and returns the outcome after the guard. Where
        the protocol is no part of another it is a step, unless ``alone`` is false.
        """
        return self._action(Manner(by, parameters, mirrors, spends, only_if, fair=fair, move=True, alone=alone))

    def fault(
        self,
        *,
        by: str,
        mirrors: str = "",
        spends: str | None = None,
        only_if: object = True,
        **parameters: Values,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declares a fault, like ``step``; ``spends`` names the budget that each occurrence takes one from."""
        return self._action(Manner(by, parameters, mirrors, spends, only_if, fault=True))

    def _action(self, manner: Manner) -> Callable[[Callable[..., Any]], Any]:
        if manner.spends is not None:
            manner = manner._replace(spends=self._budget(manner.spends))

        def declare(function: Callable[..., Any]) -> Any:
            short, name, doc = function.__name__, self.scope.name(function.__name__), inspect.cleandoc(function.__doc__ or "")
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
            self.mirrors[name] = mirrors
            told = manner._replace(parameters={**{u.name: u for u, _ in self.scope.at}, **self._universes_of(where, manner)})
            self.actors.claim(where, manner.by, told.parameters, self.universes)
            posts = self._posts(where, told, Location.of(function))
            if manner.is_there(self.budgets) and name not in self.steps:
                self.steps.append(name)
            if not missing:
                self._ground(name, doc, function, manner, posts)
            return move if manner.move else function

        return declare

    def _budget(self, name: str) -> str:
        """The full name of the budget that is meant: the part's own, or that of who includes it."""
        names = (scope.full(name) for scope in self.scope.enclosing())
        return next((full for full in names if full in self.budgets), name)

    def _universes_of(self, where: str, manner: Manner) -> dict[str, Any]:
        """What each parameter goes through."""
        made: dict[str, Any] = {}
        if not any(map(callable, manner.parameters.values())):
            return dict(manner.parameters)
        for name, values in manner.parameters.items():
            firsts = {known: next(iter(through), None) for known, through in made.items()}
            if callable(values) and None in firsts.values():
                made[name] = ()
            else:
                made[name] = self._through(where, name, values, firsts) if callable(values) else values
        return made

    def _through(self, where: str, name: str, values: Callable[..., Any], bound: Mapping[str, Any]) -> Universe:
        """The universe of whose members a variable holds one, which a parameter is."""
        term = build(where, which, where, values, bound)
        variable = self._variable_of(self.nodes.of(term)) if isinstance(term, z3.ExprRef) else None
        universe = variable.domain.universe if variable is not None and isinstance(variable.domain, Choice) else None
        if universe is None:
            raise ModelError(f"{where}: {name} is the member that a variable holds, a choice of a universe, not {term}")
        return universe

    def _posts(self, where: str, manner: Manner, location: Location) -> dict[str, Variable]:
        """For each who may be sent something by an action the variable that holds it."""
        return self.actors.name(where, location, manner.parameters, manner.told, self._by_term)

    def _ground(
        self, name: str, doc: str, function: Callable[..., Any], manner: Manner, posts: dict[str, Variable]
    ) -> None:
        """Makes an action for each tuple of arguments."""
        parameters, told, spends, own = manner.parameters, manner.told, manner.spends, self.mirrors[name]
        through = self._universes_of(f"{self.name}: action {name}", manner)
        for values in itertools.product(*through.values()):
            bound = dict(zip(parameters, values, strict=True))
            if not manner.admits(bound):
                continue
            copies = {u.name: u.label(i) for u, i in self.scope.at}
            shown = copies | {k: self._show(through[k], v) for k, v in bound.items()}
            actor = shown.get(manner.by, manner.by)
            where = f"{self.name}: action {name}({', '.join(f'{k}={v}' for k, v in shown.items())})"
            such = [which(where, p, bound) == bound[k] for k, p in parameters.items() if callable(p)]
            with calls() as called:
                made = build(where, function, **bound)
            guard, updates, moves = self._checked(where, made, such, called)
            if z3.is_false(guard):
                continue
            self._note(where, manner, moves)
            mirrors = tuple(dict.fromkeys([*own, *(method for taken in moves for method in taken.mirrors)]))
            self.mirrors[name] = tuple(dict.fromkeys([*self.mirrors[name], *mirrors]))
            if spends is not None:
                counter = self._by_term[spends]
                if counter in updates:
                    raise ModelError(f"{where}: it updates {spends}, the budget that it spends")
                guard = And(guard, counter.term < self.budgets[spends])
                updates[counter] = counter.term + 1
            universes = (p if isinstance(p, Universe) else None for p in through.values())
            grounding = (*self.scope.at, *zip(universes, values, strict=True))
            fault, fair = manner.fault, manner.fair
            about = (doc, Location.of(function), mirrors)
            whom = (shown.get(told.hears, told.hears), shown.get(told.to, told.to), posts)
            action = Action(name, actor, shown, grounding, guard, updates, fault, fair, *about, *whom, moves)
            self.actions.insert(_after_name(self.actions, name) if copies else len(self.actions), action)

    def _note(self, where: str, manner: Manner, moves: Iterable[Taken]) -> None:
        """Takes note of the moves that an action takes. Raises ModelError if one is fair, or a fault, and the action is not."""
        for taken in moves:
            if taken.fair and not manner.fair:
                raise ModelError(f"{where}: it takes {taken.name}, which is fair, and is not fair itself: write fair=True")
            if taken.fault and not manner.fault:
                raise ModelError(f"{where}: it takes {taken.name}, which is a fault: declare it with @p.fault")
            if taken.name in self.offers:
                self.offers[taken.name].taken = True

    def is_action_or_actor(self, name: str) -> bool:
        """Whether an action or an actor has that name; an action that this instance leaves out counts."""
        return self._names.get(name) == "action" or any(action.actor == name for action in self.actions)

    @staticmethod
    def _show(domain: Iterable[int], value: int) -> str:
        return domain.label(value) if isinstance(domain, Universe) else str(value)

    def _checked(
        self, where: str, made: Any, such: Sequence[Any] = (), called: Iterable[Taken] = ()
    ) -> tuple[Any, dict[Variable, Any], tuple[Taken, ...]]:
        """The guard, updates and moves that a step has returned; ``such`` must hold besides, ``called`` be among the moves."""
        whole = self._returned(where, made, such)
        guard = _settled(z3.BoolVal(whole.guard) if isinstance(whole.guard, bool) else whole.guard)
        self.vet(f"{where}: its guard", guard)
        if z3.is_false(guard):
            return guard, {}, ()
        if whole.conflicts:
            raise ModelError(f"{where}: {whole.conflicts[0]}")
        for taken in called:
            if taken not in whole.moves:
                raise ModelError(f"{where}: it calls {taken.name} and leaves it out: name it after the guard, with a comma")
        updates: dict[Variable, Any] = {}
        for key, given in whole.updates.items():
            variable = self._variable_of(self.nodes.of(key)) if isinstance(key, z3.ExprRef) else None
            if variable is None:
                raise ModelError(f"{where}: it updates {key}, which is not a variable of the protocol")
            if self._scopes:
                self._check_owner(where, variable, given)
            try:
                term = variable.domain.coerce(given.value)
            except (ValueError, z3.Z3Exception) as error:
                raise ModelError(f"{where}: new value of {variable.name}: {reason(error)}") from error
            self.vet(f"{where}: the new value of {variable.name}", term)
            if not term.eq(variable.term):
                updates[variable] = term
        return guard, updates, whole.moves

    @staticmethod
    def _returned(where: str, made: Any, such: Sequence[Any] = ()) -> Effect:
        """What a step has returned as one effect. Raises ModelError, beginning with ``where``, if it is none."""
        if made is None:
            raise ModelError(f"{where}: an action returns (guard, updates), and this returns nothing: is its return forgotten?")
        if isinstance(made, tuple) and len(made) > 1:
            guard, *happens = made
            if not (isinstance(guard, (bool, z3.BoolRef, Effect, Mapping, tuple)) or callable(guard)):
                raise ModelError(f"{where}: its guard is not boolean: {guard}")
            if not such and len(happens) == 1 and type(happens[0]) is dict and isinstance(guard, (bool, z3.BoolRef)):
                return Effect(guard, {variable: Given(value) for variable, value in happens[0].items()})
            whole: Effect = build(where, effect, (*such, *made))
            return whole
        if isinstance(made, Effect):
            return effect((*such, made)) if such else made
        raise ModelError(f"{where}: an action returns (guard, updates), not {made!r}")

    def _check_owner(self, where: str, variable: Variable, given: Given) -> None:
        """Raises ModelError if a variable of a part is changed otherwise than by the part itself or by a part of it."""
        owner = self._scopes.get(variable.name)
        if owner is not None and not all(owner in (by or self.scope).enclosing() for by in given.by):
            part = f"the part {owner.called}"
            raise ModelError(f"{where}: it changes {variable.name}, a variable of {part}: take a move of {part}")

    def formulates(self, kind: str) -> bool:
        """Whether statements of this kind are put into formulas: all are."""
        return True

    def vet(self, what: str, term: Any, *, primed: bool = False) -> None:
        """Raises ModelError, naming ``what``, unless the term is over this protocol's variables (and, if ``primed``, their
        next values) and uses only operators that the kernel compiles."""
        for node in self.nodes.below(term, self._vetted[primed]):
            if node.stranger is not None:
                raise ModelError(f"{what} uses {node.stranger}, which the kernel cannot compile")
            if node.is_variable and self._variable_of(node, primed=primed) is None:
                also = "; it may not speak of the state after the step" if self._variable_of(node, primed=True) else ""
                raise ModelError(f"{what} mentions {node.detail}, which is not a variable of the protocol{also}")
        too_wide = self.ranges.too_wide(self.nodes.of(term))
        if too_wide is not None:
            number = next(part for part in walk(term, set()) if self.nodes.of(part) is too_wide)
            raise ModelError(f"{what}: {number} may be too large for the kernel's 64-bit numbers")

    def range_of(self, number: Any) -> tuple[int, int]:
        """The least and the greatest value that a vetted term may have, as far as the variables' domains alone tell."""
        return self.ranges.of(self.nodes.of(number))

    def _variable_of(self, constant: Node, *, primed: bool = False) -> Variable | None:
        """The variable whose value, or if ``primed`` perhaps next value, this very constant is, sort included."""
        variable = self._of_node[False].get(constant.identity)
        return self._of_node[True].get(constant.identity) if primed and variable is None else variable

    def after(self, action: Action, formula: Any) -> Any:
        """A formula over values and next values, as it stands before the action and speaks of the state after it."""
        return z3.substitute(formula, *((v.next, action.updates.get(v, v.term)) for v in self.variables))

    def still(self, formula: Any) -> Any:
        """A formula over values and next values, as it stands where nothing changes."""
        return z3.substitute(formula, *((v.next, v.term) for v in self.variables))

    def primed(self, formula: Any) -> Any:
        """A formula over values, said of the next values."""
        return z3.substitute(formula, *((v.term, v.next) for v in self.variables))

    def next_variables_of(self, formula: Any) -> set[Variable]:
        """The variables whose value after a step the formula mentions."""
        nexts = self._of_node[True]
        return {nexts[node.identity] for node in self.nodes.below(formula, set()) if node.identity in nexts}

    def variables_of(self, formula: Any) -> frozenset[Variable]:
        """The variables whose value, before or after a step, the formula mentions."""
        root = self.nodes.of(formula)
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node.identity in self._mentioned:
                continue
            if node.is_variable:
                self._mentioned[node.identity] = frozenset([self._by_term[node.detail.removesuffix("'")]])
            elif ready:
                below = (self._mentioned[argument.identity] for argument in node.arguments)
                self._mentioned[node.identity] = frozenset().union(*below)
            else:
                stack.append((node, True))
                stack.extend((argument, False) for argument in node.arguments)
        return self._mentioned[root.identity]


def _together(name: str, tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The defects of several tables. Raises ModelError if one says of a name what another does not."""
    made: dict[str, str] = {}
    for table in tables:
        for defect, text in table.items():
            if made.setdefault(defect, text) != text:
                raise ModelError(f"{name}: defect {defect} has two texts: {made[defect]!r} and {text!r}")
    return made


def _after(variables: Sequence[Variable], family: str) -> int:
    """The place after the last variable of a family, or after all."""
    places = [place for place, variable in enumerate(variables, 1) if variable.family == family]
    return places[-1] if places else len(variables)


def _after_name(actions: Sequence[Action], name: str) -> int:
    """The place after the last action of a name, or after all."""
    places = [place for place, action in enumerate(actions, 1) if action.name == name]
    return places[-1] if places else len(actions)


def _settled(guard: Any) -> Any:
    """The guard without conjuncts that are settled where it is written, such as ``old != new`` of two members."""
    if not z3.is_and(guard):
        return guard
    open_ = [conjunct for conjunct in guard.children() if not z3.is_true(conjunct)]
    if any(z3.is_false(conjunct) for conjunct in open_):
        return z3.BoolVal(False)
    return guard if len(open_) == guard.num_args() else And(*open_)
