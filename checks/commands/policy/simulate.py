"""``fencepost policy simulate``: one run of a cluster under a policy, what it is worth, and what the protocols say of it."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fencepost.checks.commands.policy.request import SimulateRequest
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.settings import changed, read_settings
from fencepost.checks.policy.strategies import keep_input, manager_of, remembered
from fencepost.checks.policy.text import shortened, timeline
from fencepost.checks.policy.world import world
from fencepost.model.balance.load_manager import LoadManager
from fencepost.model.balance.simulation.cycle import MINUTES_OF_AN_HOUR, simulate
from fencepost.model.balance.simulation.measures import MEASURES, measures
from fencepost.model.balance.simulation.run import Action, Run
from fencepost.model.balance.simulation.scenario import Scenario
from fencepost.model.balance.strategies import names_of, strategy_name
from fencepost.model.balance.user_policy import PolicyFault
from fencepost.model.counts import count_of
from fencepost.traces.control_actions import Objection, Replayed, replayed
from fencepost.traces.files.writing import write_text


def run(asked: SimulateRequest) -> ExitStatus:
    """Simulates what is asked for, prints what came of it, and writes it to a folder if one is given."""
    settings = read_settings(asked.conf, asked.pulsar)
    for note in settings.notes:
        print(f"note: {note}", file=sys.stderr)
    policy = manager_of(changed(settings.conf, asked.set), settings.places, asked.shedder, asked.placement)
    scenario = world(asked, policy.conf)
    simulation, cut_short = _simulated(asked, policy, scenario)
    replay = replayed(simulation)
    status = ExitStatus.SAFETY if replay.objections else ExitStatus.INCONCLUSIVE if cut_short else ExitStatus.HOLDS
    document = _json(simulation, replay, policy, status)
    if asked.out is not None:
        _write(asked.out, simulation, document)
    report = in_format(
        asked.format,
        text=lambda: shortened(
            "\n".join(_text(simulation, replay, policy, status, asked, cut_short=cut_short)) + "\n", simulation.brokers
        ).removesuffix("\n"),
        json=lambda: json.dumps(document, indent=2, ensure_ascii=False),
    )
    print(report)
    return status


def _simulated(asked: SimulateRequest, policy: LoadManager, scenario: Scenario) -> tuple[Run, bool]:
    """The run, and whether it was interrupted. A fault of a user's policy is told with what it was asked."""
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin("simulate")
    with interruptible() as interrupt:

        def should_stop(done: int, minutes: int) -> bool:
            reporter.telling(f"{done:,} of {minutes:,} minutes")
            return interrupt()

        try:
            simulation = simulate(policy, scenario, asked.seed, asked.hours, should_stop)
        except PolicyFault as fault:
            if asked.out is None:
                fault.add_note(f"--out DIR keeps what it was asked with{remembered(fault)}")
            else:
                keep_input(fault, asked.out / "fault.json")
            raise
        finally:
            reporter.end()
        return simulation, interrupt()


# --- for people


def _text(
    simulation: Run, replay: Replayed, policy: LoadManager, status: ExitStatus, asked: SimulateRequest, *, cut_short: bool
) -> list[str]:
    size = f"{count_of(len(simulation.brokers), 'broker')}, {count_of(simulation.bundles[0], 'bundle')}"
    lines = [
        names_of(policy),
        f"{simulation.scenario}: {simulation.minutes / MINUTES_OF_AN_HOUR:g} h, seed {simulation.seed}; {size}",
        "",
    ]
    for name, value in measures(simulation).as_dict().items():
        if not math.isnan(value):
            lines.append(f"  {name:<18}{value:>10.4g} {MEASURES[name].unit:<16}{MEASURES[name].meaning}")
    counts = Counter(action.kind for action in simulation.actions)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
    lines += ["", f"actions: {kinds or 'none'}"]
    shown = timeline(simulation)
    lines += [f"  {line}" for line in shown[: asked.actions]]
    if len(shown) > asked.actions:
        lines.append(f"  and {len(shown) - asked.actions:,} more; --actions says how many are shown, --out keeps all")
    actions = count_of(replay.actions, "action")
    lines += ["", f"replayed through ownership, unload and split: {actions}, {replay.kinds} of them different"]
    if replay.refusals:
        lines.append(f"  refused, by the protocols too, so that nothing changed: {len(replay.refusals):,}")
        lines += _objection_lines(replay.refusals, asked.actions, "  ", "refusals")
    lines += _objection_lines(replay.objections, asked.actions, "violated: ", "violations")
    if not replay.actions:
        lines.append("  nothing was done, so nothing is claimed of the protocols")
    if cut_short:
        lines.append("interrupted; nothing is claimed of the time after that")
    if asked.out is not None:
        lines.append(f"written: {', '.join(str(asked.out / name) for name in ('run.json', 'usage.csv', 'actions.csv'))}")
    done = "the protocols allow all that was done" if replay.actions else "nothing was done"
    words = {ExitStatus.HOLDS: done, ExitStatus.SAFETY: "an action breaks the protocols"}
    return [*lines, f"{words.get(status, 'interrupted')} (exit {int(status)})"]


def _objection_lines(objections: Sequence[Objection], most: int, head: str, several: str) -> list[str]:
    """A line for each of the first, and one that counts the others."""
    lines = [f"  {head}{_when(o.action)} {o.action.kind} {o.action.bundle}: {o.reason}" for o in objections[:most]]
    return lines + ([f"  and {len(objections) - most:,} more {several}"] if len(objections) > most else [])


def _when(action: Action) -> str:
    return f"{action.minute // MINUTES_OF_AN_HOUR}:{action.minute % MINUTES_OF_AN_HOUR:02d}"


# --- for programs


def _json(simulation: Run, replay: Replayed, policy: LoadManager, status: ExitStatus) -> dict[str, object]:
    columns = simulation.usage.T.tolist()
    return {
        "shedder": strategy_name(policy.shedder),
        "placement": strategy_name(policy.placement),
        "pulsar": policy.conf.pulsar_version,
        "scenario": simulation.scenario,
        "seed": simulation.seed,
        "minutes": simulation.minutes,
        "status": int(status),
        "measures": {name: _number(value) for name, value in measures(simulation).as_dict().items()},
        "usage": {broker: [_number(x) for x in column] for broker, column in zip(simulation.brokers, columns, strict=True)},
        "offered": simulation.offered.tolist(),
        "carried": simulation.carried.tolist(),
        "bundles": simulation.bundles.tolist(),
        "actions": [_action(action) for action in simulation.actions],
        "replayed": {"actions": replay.actions, "different": replay.kinds},
        "refusals": _objections(replay.refusals),
        "violations": _objections(replay.objections),
    }


def _objections(objections: Sequence[Objection]) -> list[dict[str, object]]:
    return [{"action": _action(objection.action), "said": objection.reason} for objection in objections]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _action(action: Action) -> dict[str, Any]:
    return {**asdict(action), "boundaries": [f"0x{cut:08x}" for cut in action.boundaries]}


def _write(folder: Path, simulation: Run, document: Mapping[str, object]) -> None:
    """Keeps the run: all of it as JSON, usages and actions as tables. OSError if it cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "run.json", json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    with (folder / "usage.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["minute", *simulation.brokers])
        table.writerows(
            [minute, *("" if x != x else f"{x:.6g}" for x in row)] for minute, row in enumerate(simulation.usage.tolist())
        )
    with (folder / "actions.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, [*asdict(Action(0, "assign"))], lineterminator="\n")
        rows.writeheader()
        actions = map(_action, simulation.actions)
        rows.writerows({**action, "boundaries": " ".join(action["boundaries"])} for action in actions)
