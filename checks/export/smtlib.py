"""The obligations of a proof by induction as SMT-LIB 2 scripts, for any solver of bit vectors.

A script is about the initial states, about what the invariant implies, or about one action. It declares the variables, asserts
what is supposed, and then asks of each conclusion whether it can be false: ``unsat`` is what a proof needs. Every number is a
bit vector in two's complement, wide enough for all that can be computed within the domains, as in the problems that the
second solver gets here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fencepost.checks.engines.induction.plan import InductionPlan
from fencepost.checks.engines.solvers.obligations import Part
from fencepost.checks.engines.solvers.solving import bits_of
from fencepost.model.language import Action, And, Protocol, Variable
from fencepost.model.language.domains import Choice, Number, Subset
from fencepost.model.terms.in_smtlib import InSmtLib
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition
from fencepost.properties.registry import written as shown
from fencepost.properties.vocabulary import Suite

DOMAINS = "domains"
"""What the conclusion is called that every variable stays in its domain."""

UNFIT = re.compile(r"[^\w-]")
"""What labels may have in them and names of files had better not."""


@dataclass(frozen=True)
class Claim:
    """One conclusion: the name and the kind of the statement that it is of, a sentence on it, and the formula."""

    name: str
    kind: str
    sentence: str
    formula: Condition


@dataclass(frozen=True)
class Script:
    """One script: what it is about, what it supposes, with a sentence on each, and its claims. ``frame`` are the statements of
    whose variables the action changes none, so that there is nothing to ask."""

    name: str
    about: str
    action: str | None
    supposed: Sequence[tuple[str, Condition]]
    claims: Sequence[Claim]
    frame: Sequence[str] = ()


def scripts(suite: Suite, progress: Callable[[int, int], None] = lambda done, count: None) -> Mapping[str, str]:
    """The scripts of a proof by name, with an index of them in JSON.

    ``progress`` is told of scripts written of all. Raises ModelError if the suite has no lemmas or nothing to prove.
    """
    plan = InductionPlan(suite)
    protocol = suite.protocol
    every = [_initial(plan), _implied(plan), *(_step(plan, action) for action in protocol.actions)]
    names = [f"{number:03}-{UNFIT.sub('_', script.name)}.smt2" for number, script in enumerate(every)]
    formulas = [formula for script in every for formula in _formulas(script)]
    printed = InSmtLib(bits_of(protocol, formulas, set()))
    files = {}
    for done, (name, script) in enumerate(zip(names, every, strict=True)):
        progress(done, len(every))
        files[name] = _text(script, protocol, printed)
    index = {
        "protocol": protocol.name,
        "parameters": protocol.parameters,
        "bugs": list(protocol.active),
        "logic": "QF_BV",
        "expected": "unsat",
        "properties": [{"name": p.name, "kind": p.kind} for p in plan.proved],
        "scripts": [_entry(name, script) for name, script in zip(names, every, strict=True)],
    }
    return {"index.json": json.dumps(index, indent=2) + "\n", **files}


def _initial(plan: InductionPlan) -> Script:
    claims = [*_within({v: v.term for v in plan.protocol.variables}), *_claims(plan.lemmas)]
    return Script("initial", "the lemmas hold initially", None, [("the initial states", And(*plan.initial))], claims)


def _implied(plan: InductionPlan) -> Script:
    return Script("implied", "the invariant implies the properties", None, _invariant(plan), _claims(plan.implied))


def _step(plan: InductionPlan, action: Action) -> Script:
    conclusions = plan.conclusions(action)
    claims = _within(action.updates) + _claims([Part(plan.after[number].of, it) for number, it in conclusions.items()])
    asked = {claim.name for claim in claims}
    frame = [name for name in dict.fromkeys(part.of.name for part in plan.after) if name not in asked]
    name = "-".join([action.name, *action.arguments.values()])
    supposed = [*_invariant(plan), (f"action {action.label} is enabled", action.guard)]
    return Script(name, f"action {action.label} preserves the lemmas", action.label, supposed, claims, frame)


def _within(values: Mapping[Variable, Term]) -> list[Claim]:
    """The claim that these values are of the domains of their variables; none if they cannot be others."""
    bounds = [v.domain.within(value) for v, value in values.items() if isinstance(v.domain, (Number, Choice))]
    return [Claim(DOMAINS, DOMAINS, "every variable is in its domain", And(*bounds))] if bounds else []


def _invariant(plan: InductionPlan) -> list[tuple[str, Condition]]:
    domains = [(claim.sentence, claim.formula) for claim in _within({v: v.term for v in plan.protocol.variables})]
    return domains + [(f"lemma {lemma.name}: {lemma.doc}", lemma.formula) for lemma in plan.statements]


def _claims(parts: Sequence[Part]) -> list[Claim]:
    """The parts, one claim for each statement."""
    of = {part.of.name: part.of for part in parts}
    return [
        Claim(name, s.kind, f"{s.kind} {name}: {s.doc}", And(*(part.formula for part in parts if part.of is s)))
        for name, s in of.items()
    ]


def _formulas(script: Script) -> Iterator[Condition]:
    yield from (formula for _, formula in script.supposed)
    yield from (claim.formula for claim in script.claims)


def _entry(name: str, script: Script) -> dict[str, object]:
    return {
        "file": name,
        "about": script.about,
        "action": script.action,
        "obligations": [{"statement": claim.name, "kind": claim.kind} for claim in script.claims],
        "frame": list(script.frame),
    }


def _text(script: Script, protocol: Protocol, printed: InSmtLib) -> str:
    settings = " ".join(f"{name}={shown(value)}" for name, value in protocol.parameters.items())
    lines = [
        *_comment(f"{protocol.name}: {script.about}"),
        *_comment(f"{settings}{' with ' + ', '.join(protocol.active) if protocol.active else ''}"),
        "(set-info :smt-lib-version 2.6)",
        f"(set-info :source |Fencepost, {protocol.name}, proof by induction|)",
        "(set-logic QF_BV)",
        "",
        *(f"{printed.declared(variable.term)} ; {_meaning(variable)}" for variable in protocol.variables),
    ]
    for sentence, formula in script.supposed:
        lines += ["", *_comment(f"supposed: {sentence}"), f"(assert {printed(formula)})"]
    for claim in script.claims:
        lines += ["", *_comment(f"can it be false? {claim.sentence}"), "(push 1)", f"(assert (not {printed(claim.formula)}))"]
        lines += ["(check-sat)", "(pop 1)"]
    return "\n".join([*lines, "(exit)", ""])


def _meaning(variable: Variable) -> str:
    domain = variable.domain
    if isinstance(domain, Number):
        return f"{domain.lowest} to {domain.highest}"
    if isinstance(domain, Choice):
        return ", ".join(f"{raw}: {name}" for raw, name in enumerate(domain.names))
    if isinstance(domain, Subset):
        return "lowest bit first: " + ", ".join(map(domain.universe.label, domain.universe))
    return "true or false"


def _comment(text: str) -> list[str]:
    return [f"; {line}".rstrip() for line in text.splitlines()]
