"""Finding lemmas: what is tried in what order, and what came of it.

From the domains of the variables atoms are made, and from these clauses. Those are kept that hold in reached states; of these
an inductive set is looked for that has the property, first with few literals in a clause; it is made smaller and written as
Python. That text is then proved as the lemmas of any protocol are, from the beginning: nothing of how it was found counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fencepost.checks.engines.any_size.verdicts import findings_for_any_size
from fencepost.checks.engines.induction.proof import Proof, prove
from fencepost.checks.engines.lemmas.atoms import Vocabulary
from fencepost.checks.engines.lemmas.candidates import Candidates
from fencepost.checks.engines.lemmas.houdini import FOLLOWS, Houdini, Steps, Survivors
from fencepost.checks.engines.lemmas.writing import suite_with, written
from fencepost.checks.engines.results.findings import Findings
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.clause_tables.clauses import Flags
from fencepost.model.kernel.clause_tables.truths import unique
from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.pieces import buckets_of
from fencepost.model.kernel.search.results import Limits, Progress
from fencepost.model.kernel.search.search import search
from fencepost.model.language import ModelError, Protocol
from fencepost.properties.any_size import Case
from fencepost.properties.registry import Entry, Instance, RegistryError, Value
from fencepost.properties.slices import slice_for
from fencepost.properties.vocabulary import Property

Uses = dict[tuple[int, int], frozenset[int]]


def shrunk(
    survivors: Survivors, steps: Steps, tell: Callable[[int, int, int], None], should_stop: Callable[[], bool]
) -> list[int]:
    """The clauses of an inductive set that has the property, without those that are not needed to prove it.

    The longest are left out first; only where Z3 had used one is it asked again. The property is no lemma if it follows from
    the others. ``tell`` hears how many are left, how many were tried, and of how many; told to stop it leaves the rest in.
    """
    uses = {key: used for key, used in survivors.uses.items() if key[0] in (settled := set(survivors.settled(steps.actions)))}
    needed = _needed(uses)
    steps.tell(sorted(settled))
    every = sorted(needed - {0}, reverse=True)
    for tried, clause in enumerate(every):
        if should_stop():
            break
        if clause in needed and (fewer := _without(survivors, steps, clause, needed, uses)) is not None:
            needed, uses = _needed(fewer), fewer
        tell(len(needed), tried, len(every))
    return sorted(needed - {0} if (0, FOLLOWS) in uses else needed)


def _without(survivors: Survivors, steps: Steps, clause: int, needed: set[int], uses: Uses) -> Uses | None:
    """What the others use instead of a clause; None if one of them needs it."""
    others, again = needed - {clause}, dict(uses)
    for key, used in uses.items():
        if key[0] in others and clause in used:
            with steps.failing(*key) as question:
                answer = question.ask(_flags(survivors, others - {0} if key == (0, FOLLOWS) else others))
            if not isinstance(answer, frozenset):
                return None
            again[key] = answer
    return again


def _needed(uses: Uses) -> set[int]:
    """The property, and all that it needs."""
    needed, todo = set[int](), [0]
    while todo:
        clause = todo.pop()
        if clause not in needed:
            needed.add(clause)
            todo += [used for (mine, _), every in uses.items() if mine == clause for used in every]
    return needed


def _flags(survivors: Survivors, clauses: Iterable[int]) -> Flags:
    flags = np.zeros(len(survivors.clauses), dtype=np.bool_)
    flags[list(clauses)] = True
    return flags


MOST_STATES = 1 << 20
"""Of more reached states than that every other one is looked at, or fewer, and the initial ones. What is proved is as true,
but a clause that holds in these alone may take the place of longer ones that hold in all."""


@dataclass(frozen=True)
class Means:
    """How lemmas are looked for: with up to so many literals in a clause, in how many bytes of states, by how many threads."""

    literals: int = 3
    seed: int = 0
    memory: int = 1 << 30
    workers: int | None = None


@dataclass(frozen=True)
class Telling:
    """Whom it tells how far it is: of a search, and of everything else in words; and who says that it is to stop."""

    searching: Callable[[Progress], None] = lambda at: None
    telling: Callable[[str], None] = lambda text: None
    proving: Callable[[int, int], None] = lambda done, count: None
    should_stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Stage:
    """What came of clauses with up to so many literals: how many there were to try, how many held in the states, how many were
    taken out since, and what Z3 was asked."""

    literals: int
    candidates: int
    lost_to_kernel: int
    lost_to_z3: int
    questions: int


@dataclass(frozen=True)
class Lemmas:
    """What was found of a property of an instance.

    Of ``states`` that were reached, which ``is_whole`` if there are no others, clauses were tried on ``looked_at``.
    ``text`` are the clauses, as Python; ``count`` how many. ``proof`` is of the property from them, if they have it, and
    ``general`` what they prove for any size. ``is_reached`` says that the property fails in a state that was reached, so that
    there are none. ``unfinished`` says what is open, and ``why`` why the property is not proved.
    """

    entry: Entry
    instance: Instance
    protocol: Protocol
    statement: Property
    states: int
    is_whole: bool
    looked_at: int
    tried: int = 0
    stages: tuple[Stage, ...] = ()
    text: str = ""
    count: int = 0
    proof: Proof | None = None
    general: tuple[tuple[str, Findings], ...] = ()
    is_reached: bool = False
    unfinished: str = ""
    why: str = ""

    @property
    def is_proved(self) -> bool:
        """Whether the text proves the property of the instance, by a proof of its own."""
        return self.proof is not None and all(v.verdict == "proved" for v in self.proof.verdicts)


def find(entry: Entry, instance: Instance, name: str, bugs: Sequence[str], means: Means, telling: Telling) -> Lemmas:
    """Looks for lemmas that prove the property of that name.

    Raises RegistryError if there is none or it is not of single states, and what ``Entry.build`` raises.
    """
    protocol = entry.build(instance.parameters, bugs)
    prop = _property(entry, protocol, name)
    part = slice_for(protocol, [prop])
    telling.telling("searches the states that can be reached")
    kernel = Kernel(part)
    result = search(
        kernel,
        workers=means.workers,
        limits=Limits(memory=means.memory),
        progress=telling.searching,
        should_stop=telling.should_stop,
    )
    states = _chosen(np.concatenate(list(result.states())), kernel.initial())
    lemmas = Lemmas(entry, instance, protocol, prop, result.distinct, result.outcome == "exhausted", len(states))
    with Crew(means.workers) as crew:
        return _Finder(lemmas, part, states, crew, means, telling).find(bugs)


def _property(entry: Entry, protocol: Protocol, name: str) -> Property:
    suite = entry.suite(protocol)
    known = {prop.name: prop for prop in suite.properties if prop.kind == "always"}
    if name not in known:
        other = any(prop.name == name for prop in suite.properties)
        why = "is not of single states" if other else "is none of its properties"
        raise RegistryError(f"{entry.name}: {name} {why}; lemmas can be looked for of {', '.join(known)}")
    return known[name]


def _chosen(states: Words, initial: Words) -> Words:
    """The states, or some of them and the initial ones, in an order that depends on what they are, and on no rule in them."""
    some = states[buckets_of(states, -(-len(states) // MOST_STATES)) == 0]
    chosen = unique(np.concatenate([some, initial]))
    return chosen[np.random.default_rng(0).permutation(len(chosen))]


class _Finder:
    def __init__(self, lemmas: Lemmas, part: Protocol, states: Words, crew: Crew, means: Means, telling: Telling) -> None:
        self._lemmas, self._part, self._states, self._crew = lemmas, part, states, crew
        self._means, self._telling = means, telling
        self._vocabulary = Vocabulary(part, lemmas.statement.formula, lemmas.statement.name)

    def find(self, bugs: Sequence[str]) -> Lemmas:
        try:
            return self._find(bugs)
        except _Stopped:
            return replace(self._lemmas, unfinished="stopped while clauses were tried")

    def _find(self, bugs: Sequence[str]) -> Lemmas:
        means = self._means
        given = Candidates(self._vocabulary, self._states, self._crew, means.seed, self._tell)
        if not given.holds:
            return replace(self._lemmas, is_reached=True, why="it fails in a state that can be reached")
        houdini = Houdini(given.table, self._states, self._crew, means.seed)
        for literals in range(1, means.literals + 1):
            clauses = given.upto(literals)
            self._telling.telling(f"{count_of(len(clauses), 'clause')} with up to {count_of(literals, 'literal')}")
            survivors = houdini.inductive(clauses, self._telling.telling, self._telling.should_stop)
            stage = Stage(literals, len(clauses), survivors.lost_to_kernel, survivors.lost_to_z3, survivors.questions)
            self._lemmas = replace(self._lemmas, tried=given.tried, stages=(*self._lemmas.stages, stage))
            steps = houdini.steps(clauses)
            if survivors.open:
                return self._partly(given, survivors, steps.actions)
            if survivors.alive[0]:
                return self._proved(given, survivors, self._shrunk(survivors, steps), bugs)
            self._lemmas = self._with_text(given, survivors, survivors.settled(steps.actions))
        why = f"of the clauses with up to {count_of(means.literals, 'literal')} that are tried no inductive set has it"
        return replace(self._lemmas, why=why)

    def _shrunk(self, survivors: Survivors, steps: Steps) -> list[int]:
        def tell(left: int, tried: int, of: int) -> None:
            self._telling.telling(f"{count_of(left, 'clause')} are enough; {tried} of {of} were tried to be left out")

        return shrunk(survivors, steps, tell, self._telling.should_stop)

    def _tell(self, what: str, done: int, count: int) -> None:
        if self._telling.should_stop():
            raise _Stopped
        self._telling.telling(f"clauses of {what}: {done} of {count} first literals tried")

    def _with_text(self, given: Candidates, survivors: Survivors, numbers: Sequence[int]) -> Lemmas:
        atoms = given.table.atoms
        rows = [[(atoms[n >> 1], not n & 1) for n in survivors.clauses[c].tolist() if n >= 0] for c in numbers]
        of = ", ".join(f"{name}={value}" for name, value in self._lemmas.instance.parameters.items()) or "the usual instance"
        why = f"Adds lemmas for {self._lemmas.statement.name} of {self._lemmas.entry.name}, found in {of}."
        return replace(self._lemmas, text=written(self._vocabulary, rows, why) if rows else "", count=len(rows))

    def _partly(self, given: Candidates, survivors: Survivors, actions: int) -> Lemmas:
        left = f"{count_of(len(survivors.open), 'clause')} that the property may need are not settled"
        return replace(self._with_text(given, survivors, survivors.settled(actions)), unfinished=f"stopped: {left}")

    def _proved(self, given: Candidates, survivors: Survivors, numbers: Sequence[int], bugs: Sequence[str]) -> Lemmas:
        """Proves the text from the beginning, then for any size where there is such a proof of the protocol."""
        lemmas = self._with_text(given, survivors, numbers)
        suite = suite_with(lemmas.protocol, lemmas.statement, lemmas.text)
        self._telling.telling("proves what was found from the beginning")
        proof = prove(suite, workers=self._means.workers, progress=self._telling.proving, should_stop=self._telling.should_stop)
        lemmas = replace(lemmas, proof=proof)
        if not lemmas.is_proved and self._telling.should_stop():
            return replace(lemmas, unfinished="stopped before the lemmas were proved from the beginning")
        if not lemmas.is_proved:
            return replace(lemmas, why=str(proof.failures[0]) if proof.failures else "its proof from the beginning fails")
        return replace(lemmas, general=tuple(self._lifted(lemmas, bugs)))

    def _lifted(self, lemmas: Lemmas, bugs: Sequence[str]) -> list[tuple[str, Findings]]:
        """What the text proves for any size, by the name of the parameter that is of any size.

        What the instance has none of, a fault perhaps, stays out: with some of it other lemmas are needed.
        """
        entry, name, by_size = lemmas.entry, lemmas.statement.name, list[tuple[str, Findings]]()
        if entry.general is None:
            return by_size
        for size, sizes in entry.general.sizes_with(lemmas.instance.parameters).items():
            if not lemmas.protocol.parameters[size]:
                continue
            settled = {size, *sizes.settles}
            parameters = {key: value for key, value in lemmas.instance.parameters.items() if key not in settled}
            if entry.general.refuses(parameters, (size,)):
                continue
            lifted = _lifted(entry, name, lemmas.text, size, parameters)
            try:
                _, findings = findings_for_any_size(
                    lifted,
                    replace(lemmas.instance, parameters=parameters, any=(size,)),
                    bugs,
                    lambda suite: list(suite.properties),
                    workers=self._means.workers,
                    seconds=None,
                    second_solver=False,
                    progress=self._telling.proving,
                    telling=self._telling.telling,
                    should_stop=self._telling.should_stop,
                )
            except (ModelError, RegistryError) as error:
                findings = Findings((), (), (), (f"they cannot be said of any number of {size}: {error}",))
            by_size.append((size, findings))
        return by_size


def _lifted(entry: Entry, name: str, text: str, size: str, parameters: Mapping[str, Value]) -> Entry:
    """The protocol with the property of that name and the lemmas of the text, to be proved for any size.

    Where the property goes without saying it is not stated, as that two brokers do not both own where there is one.
    """
    assert entry.general is not None
    sizes = entry.general.sizes_with(parameters)[size]

    def is_stated(case: Case) -> bool:
        alone = entry.outline({**parameters, **case.settings(case.least)})
        return not case.alone or any(prop.name == name for prop in alone.properties)

    stated = replace(sizes, cases=tuple(case for case in sizes.cases if is_stated(case)))
    return replace(
        entry,
        suite=lambda p: suite_with(p, entry.suite(p).named(name), text),
        general=replace(entry.general, otherwise=lambda _: {size: stated}),
    )


class _Stopped(Exception):
    """It was told to stop while clauses were tried."""
