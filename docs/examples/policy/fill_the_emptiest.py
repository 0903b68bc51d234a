"""A shedder that fills the emptiest broker from the fullest, a bundle at a time, and a placement strategy to go with it."""

from collections.abc import Sequence

from fencepost import Configuration, LoadData, weighted_usage

PATIENCE = 3
"""How many rounds the two must be apart before anything moves."""


def shed(load: LoadData, conf: Configuration, memory: int | None) -> tuple[dict[str, list[str]], int]:
    """When the fullest is apart from the emptiest for long enough, its largest bundle that makes them no more uneven."""
    if not load.reports:
        return {}, 0
    usage = {broker: weighted_usage(report, conf) for broker, report in load.reports.items()}
    fullest, emptiest = max(usage, key=usage.__getitem__), min(usage, key=usage.__getitem__)
    apart = (usage[fullest] - usage[emptiest]) * 100 >= conf.loadBalancerBrokerThresholdShedderPercentage
    rounds = (memory or 0) + 1 if apart else 0
    report = load.reports[fullest]
    if rounds < PATIENCE or len(report.owned) < 2:
        return {}, rounds
    half = (report.throughput - load.reports[emptiest].throughput) / 2
    carried = {bundle: stats.throughput for bundle, stats in load.stats_of(fullest).items() if bundle in report.owned}
    fitting = [bundle for bundle in carried if carried[bundle] <= half and bundle not in load.recently_unloaded]
    return ({fullest: [max(fitting, key=carried.__getitem__)]} if fitting else {}), 0


def place(bundle: str, candidates: Sequence[str], load: LoadData, conf: Configuration) -> str:
    """The candidate that is used least."""
    return min(candidates, key=lambda broker: weighted_usage(load.reports[broker], conf))
