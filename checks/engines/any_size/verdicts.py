"""What a check for any size says of its protocol: verdicts, and in words what they are of and what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fencepost.checks.engines.any_size.obligations import is_provable
from fencepost.checks.engines.any_size.proof import GeneralProof, Progress, prove_for_any_size
from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.model.counts import count_of
from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.vocabulary import Property, Suite

SHOWN_FAILURES = 5


def findings_for_any_size(
    entry: Entry,
    instance: Instance,
    bugs: Sequence[str],
    chosen: Callable[[Suite], list[Property]],
    *,
    workers: int | None,
    seconds: float | None,
    second_solver: bool,
    progress: Progress,
    telling: Callable[[str], None],
    should_stop: Callable[[], bool],
) -> tuple[Protocol, Findings]:
    """Proves what can be proved of a protocol with the instance's parameters, and those named in ``any`` of any size.

    ``chosen`` picks the properties of a suite that are asked about. Raises what ``Entry.of_any`` raises, and Disagreement.
    """
    parts = entry.of_any(instance.any, instance.parameters, bugs)
    assert entry.general is not None
    proof = prove_for_any_size(
        parts,
        workers=workers,
        budget=seconds,
        second_solver=second_solver,
        progress=progress,
        telling=telling,
        should_stop=should_stop,
    )
    suite = proof.suite
    wanted = chosen(suite)
    every = entry.general.sizes_with(instance.parameters)
    sizes = {name: every[name] for name in instance.any}
    suite.protocol.parameters.update({settled: "any" for one in sizes.values() for settled in one.settles})
    what = _joined([f"of {name}" for name in instance.any]).removeprefix("of ")
    provable = [p for p in wanted if is_provable(p)]
    others = {p.name for p in suite.properties} - {p.name for p in provable}  # an instance may judge what this one does not
    judged = [f for f in proof.refuted if f.statement.name not in others]
    failures = [*map(str, judged), *(str(f) for f in proof.unproved if f.statement not in others)]
    if len(failures) > SHOWN_FAILURES:
        more = len(failures) - SHOWN_FAILURES
        failures = [*failures[:SHOWN_FAILURES], f"and {more} more obligations that were not discharged"]
    left = [p for p in wanted if p not in provable]
    of = _joined([f"{name} from {one.least} on" for name, one in sizes.items()])
    notes = [
        f"for any number of {of}, whatever happens at any depth; this is not of {entry.general.without}",
        *(f"of {name}: {one.meaning}" for name, one in sizes.items() if one.meaning),
        *_notes(proof, len(parts), what, second_solver),
        *([f"not judged here: {', '.join(p.name for p in left)}"] if left else []),
    ]
    impossible = tuple(
        Suspicion("never-happens", scheme.label, f"action {scheme.label} can never happen", scheme.location)
        for scheme in proof.impossible
    )
    verdicts = tuple(_verdict(prop, proof, what, second_solver) for prop in provable)
    return suite.protocol, Findings(verdicts, tuple(notes), impossible, tuple(failures), left=tuple(left))


def _joined(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def _verdict(prop: Property, proof: GeneralProof, what: str, second: bool) -> Verdict:
    reach = {"obligations": proof.discharged, "frame": proof.frame}
    by = "Z3 alone"
    if second:
        reach["confirmed"] = proof.confirmed
        short = proof.discharged - proof.confirmed
        by = f"{count_of(short, 'obligation')} by Z3 alone" if short else "Z3 and cvc5 agree"
    if prop in proof.proved and not proof.doubt:
        return Verdict(prop, "proved for any size", "induction", reach, f"any number of {what}; {by}")
    why = proof.doubt or next((str(f) for f in (*proof.refuted, *proof.unproved)), "not proved in an instance")
    return Verdict(prop, "inconclusive", "induction", reach, why.splitlines()[0])


def _notes(proof: GeneralProof, parts: int, what: str, second: bool) -> list[str]:
    counts = f"{count_of(proof.discharged, 'obligation')} discharged, {proof.frame:,} by frame"
    counts += f", {proof.confirmed:,} confirmed by cvc5" if second else ""
    cases = f" in {parts - proof.instances} cases" if parts - proof.instances > 1 else ""
    instances = f"; {proof.instances} more as instances" if proof.instances else ""
    notes = [f"induction over formulas for any number of {what}{cases}: {counts}{instances}"]
    for size, one in proof.links.items():
        size_of_it = f"{count_of(one.actions, 'action')}, {one.formulas} lemmas and properties"
        agree = "are not all those of the instance" if one.differing else "are those of the instance"
        notes.append(f"link: with {size} these formulas {agree}: {size_of_it}")
    return notes
