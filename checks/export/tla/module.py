"""A TLA+ module, written from an instance of a protocol and its properties."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence

from fencepost.checks.export.tla.columns import Numbering
from fencepost.checks.export.tla.expressions import TRUE, Expression, disjunction, negation, of
from fencepost.checks.export.tla.folding import Folding
from fencepost.checks.export.tla.layout import WIDTH, Layout, other
from fencepost.checks.export.tla.lifting import Case, Lifting, Operator, Parameter
from fencepost.checks.export.tla.state import State
from fencepost.checks.export.tla.terms import Terms
from fencepost.model.terms.simplification import truth_of
from fencepost.properties.registry import written
from fencepost.properties.vocabulary import Property, Suite

_LANGUAGE = """ASSUME ASSUMPTION AXIOM BOOLEAN CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED EXCEPT EXTENDS IF IN INSTANCE
LAMBDA LET LOCAL MODULE OTHER SF_ STRING SUBSET THEN THEOREM UNCHANGED UNION VARIABLE VARIABLES WF_ WITH TRUE FALSE"""
_MODULES = "Nat Int Cardinality IsFiniteSet"
_OWN = "Max Min Holds Init Next Spec TypeOK vars one other another condition"
RESERVED = frozenset(f"{_LANGUAGE} {_MODULES} {_OWN}".split())
"""The words of TLA+, of the modules that are extended, and of every module that is written here."""


class Identifiers:
    """Gives out identifiers, each once."""

    def __init__(self) -> None:
        self.taken: set[str] = set(RESERVED)

    def claim(self, wanted: str) -> str:
        """The identifier wanted, without the dots of parts and with underscores behind it until it is nobody else's."""
        wanted = wanted.replace(".", "_")
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted


def camel(name: str) -> str:
    """``find_none`` as ``FindNone``, as operators and modules of TLA+ are called."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


HOLDS = """\\* TLC would take each side of a disjunction for an action of its own; this is one condition.
Holds(condition) == condition = TRUE"""
FUNCTIONS = {
    "max": "Max(one, other) == IF one >= other THEN one ELSE other",
    "min": "Min(one, other) == IF one <= other THEN one ELSE other",
}


class Module:
    """The module of an instance. ``text`` is what it says, ``name`` what it is called, ``names`` what each property is called
    in it. ``progress`` is told of actions written, of all.

    Raises ModelError for a term that TLA+ has no words for.
    """

    def __init__(self, suite: Suite, progress: Callable[[int, int], None] = lambda done, count: None) -> None:
        protocol = self._protocol = suite.protocol
        self._suite = suite
        identifiers = Identifiers()
        self.name = identifiers.claim(camel(protocol.name))
        families = dict.fromkeys(variable.family for variable in protocol.variables)
        variables = {family: identifiers.claim(family) for family in families}
        universes = self._universes = {u: identifiers.claim(camel(u.name)) for u in protocol.universes.values()}
        for called in universes.values():
            identifiers.claim(other(called))
        self._actions = {action: identifiers.claim(camel(action)) for action in dict.fromkeys(a.name for a in protocol.actions)}
        self.names = {p.name: identifiers.claim(p.name) for p in suite.properties}
        self._fairness = {
            unfair: identifiers.claim("".join(["Fairness", *(f"But{camel(name)}" for name in sorted(unfair))]))
            for unfair in dict.fromkeys(p.unfair for p in suite.properties if p.kind == "leads_to")
        }
        numbering = Numbering(protocol)
        folding = Folding(numbering, identifiers.taken)
        terms = Terms(protocol, folding)
        self._operators = Lifting(protocol, numbering, identifiers.taken).operators(progress)
        self._formulas = {
            p.name: _all_leads(terms, folding, p) if p.leads else folding.all([terms.formula(p.formula)])
            for p in suite.properties
        }
        self._layout = Layout(universes, numbering.numbered, variables.__getitem__)
        self._state = State(protocol, self._layout, variables, universes, identifiers.taken)
        self.text = "\n".join(self._sections())

    def _sections(self) -> Iterator[str]:
        title = f" MODULE {self.name} "
        yield title.center(WIDTH, "-")
        yield from self._heading()
        yield "EXTENDS Integers, FiniteSets\n"
        yield from self._state.declarations()
        yield from self._definitions()
        yield from self._state.domains_and_beginning()
        yield _banner("what can happen")
        for operator in self._operators:
            yield self._action(operator)
        yield self._next()
        yield "Spec == Init /\\ [][Next]_vars\n"
        yield from self._properties()
        yield "=" * WIDTH + "\n"

    def _heading(self) -> Iterator[str]:
        protocol = self._protocol
        settings = " ".join(f"{name}={written(value)}" for name, value in protocol.parameters.items())
        paragraphs = [protocol.doc.strip(), f"This instance: {settings or 'the only one'}."]
        paragraphs += [f"With a bug, {bug}: {protocol.bugs[bug]}." for bug in protocol.active]
        yield comment("\n\n".join([*paragraphs, "Written by fencepost from its own model: change that, not this."])) + "\n"

    def _definitions(self) -> Iterator[str]:
        used = {(node.operator, node.detail) for expression in self._everything() for node in walk(expression)}
        for universe, called in self._universes.items():
            if ("other", universe) in used:
                yield f"{other(called)}(one) == CHOOSE another \\in {called} : another # one\n"
        for operator, definition in FUNCTIONS.items():
            if (operator, None) in used:
                yield f"{definition}\n"
        if any(splits(part) for o in self._operators for case in o.cases for part in _conjuncts(case.guard)):
            yield f"{HOLDS}\n"

    def _everything(self) -> Iterator[Expression]:
        for operator in self._operators:
            for case in operator.cases:
                yield from (*case.conditions, case.guard, *case.equations)
        yield from self._formulas.values()

    # --- actions

    def _action(self, operator: Operator) -> str:
        doc = operator.grounded[0][1].doc
        head = f"{self._call(operator, [p.name for p in operator.parameters])} ==\n"
        if len(operator.cases) == 1:
            return f"{comment(doc)}\n{head}  {self._case(operator.cases[0], 2)}\n"
        cases = "\n".join(f"  \\/ {self._case(case, 5)}" for case in operator.cases)
        return f"{comment(doc)}\n{head}{cases}\n"

    def _case(self, case: Case, column: int) -> str:
        guard = [of("holds", part) if splits(part) else part for part in _conjuncts(case.guard)]
        parts = [*case.conditions, *guard, *case.equations]
        lines = [self._layout.bullets("/\\", parts, column)] if parts else []
        if case.unchanged:
            lines.append("/\\ " + self._state.unchanged(case.unchanged, column + 3))
        return f"\n{' ' * column}".join(lines)

    def _call(self, operator: Operator, arguments: Sequence[str]) -> str:
        name = self._actions[operator.action]
        return f"{name}({', '.join(arguments)})" if arguments else name

    def _ranges(self, parameters: Sequence[Parameter]) -> str:
        return ", ".join(f"{p.name} \\in {self._state.range_of(p)}" for p in parameters)

    def _next(self) -> str:
        lines = []
        for operator in self._operators:
            call = self._call(operator, [p.name for p in operator.parameters])
            ranges = self._ranges(operator.parameters)
            lines.append(f"  \\/ \\E {ranges} : {call}" if ranges else f"  \\/ {call}")
        return "Next ==\n" + "\n".join(lines) + "\n" if lines else "Next == FALSE /\\ UNCHANGED vars\n"

    # --- properties

    def _properties(self) -> Iterator[str]:
        titles = {
            "always": "what must hold in every reachable state",
            "step": "what every step must respect",
            "deadlock": "where a run may end",
            "sometimes": "what must be possible, said as what must not: TLC shows how it comes about",
            "leads_to": "what must come about in the end",
        }
        for kind, title in titles.items():
            chosen = [p for p in self._suite.properties if p.kind == kind]
            if chosen:
                yield _banner(title)
            if kind == "leads_to":
                yield from map(self._fair, {p.unfair: p for p in chosen}.values())
            for p in chosen:
                expected = f"\n\nThis is a negative control, expected to be violated: {p.strict}." if p.strict else ""
                yield f"{comment(p.doc + expected)}\n{self.names[p.name]} ==\n{self._statement(p)}\n"

    def _statement(self, p: Property) -> str:
        if p.kind == "leads_to":
            return f"  {self._fairness[p.unfair]} =>\n    {self._layout.block(self._formulas[p.name], 4)}"
        formula = self._formulas[p.name]
        if p.kind == "step":
            return f"  [][{self._layout.block(formula, 5)}]_vars"
        if p.kind == "deadlock":
            formula = disjunction([of("enabled"), formula])
        return "  " + self._layout.block(negation(formula) if p.kind == "sometimes" else formula, 2)

    def _fair(self, p: Property) -> str:
        """The assumption: no action that the property obliges stays enabled forever without being taken."""
        lines = []
        for operator in self._operators:
            obliged = [row for row, action in operator.grounded if p.obliges(action)]
            if not obliged:
                continue
            if len(obliged) == len(operator.grounded) and operator.parameters:
                call = self._call(operator, [its.name for its in operator.parameters])
                lines.append(f"\\A {self._ranges(operator.parameters)} : WF_vars({call})")
                continue
            for row in obliged:
                pairs = zip(operator.parameters, row, strict=True)
                arguments = [self._layout.flat(parameter.literal(value)) for parameter, value in pairs]
                lines.append(f"WF_vars({self._call(operator, arguments)})")
        listed = "\n".join(f"  /\\ {line}" for line in lines) or f"  {self._layout.flat(TRUE)}"
        return f"{self._fairness[p.unfair]} ==\n{listed}\n"


def _all_leads(terms: Terms, folding: Folding, p: Property) -> Expression:
    """That each premise leads to its conclusion, except for the pairs that hold by what they say.

    TLC takes it for violated that a premise leads to TRUE, or FALSE to a conclusion, and refuses a property that is TRUE; that
    TRUE leads to TRUE it takes for what it is.
    """
    leads = [
        of("~>", terms.formula(premise), terms.formula(conclusion))
        for premise, conclusion in p.leads
        if truth_of(premise) is not False and truth_of(conclusion) is not True
    ]
    return folding.all(leads or [of("~>", TRUE, TRUE)])


def _conjuncts(guard: Expression) -> Sequence[Expression]:
    if guard == TRUE:
        return ()
    return guard.operands if guard.operator == "and" else (guard,)


def splits(condition: Expression) -> bool:
    """Whether TLC, which looks for actions in it, would take the condition for several."""
    if condition.operator in ("or", "some"):
        return True
    return condition.operator in ("and", "all", "=>", "if") and any(map(splits, condition.operands))


def walk(expression: Expression) -> Iterator[Expression]:
    """Every node of an expression."""
    yield expression
    for operand in expression.operands:
        yield from walk(operand)


def comment(text: str) -> str:
    """A text as lines of comment."""
    lines = [line for paragraph in text.split("\n\n") for line in (*textwrap.wrap(paragraph, WIDTH - 3), "")]
    return "\n".join(f"\\* {line}".rstrip() for line in lines[:-1])


def _banner(title: str) -> str:
    return f"\\* --- {title}\n"
