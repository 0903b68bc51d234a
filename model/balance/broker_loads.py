"""The averages by which brokers of the extensible manager are compared: each broker's own, of its usage and its throughput.

Mirrors BrokerLoadData of pulsar-broker. A snapshot of the modular manager's reports does not have them; they are then
advanced from one snapshot to the next, the first as it is.
"""

from __future__ import annotations

from typing import Any

from fencepost.model.balance.amounts import RIGHT
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import BrokerLoad, LoadData
from fencepost.model.balance.usage import weighted_usage


def broker_loads(data: LoadData, conf: Configuration) -> dict[str, BrokerLoad]:
    """The averages of every broker with a report: those given, or a first sample."""
    return {
        broker: data.loads[broker] if broker in data.loads else advanced(None, broker, data, conf) for broker in data.reports
    }


def advanced(load: BrokerLoad | None, broker: str, data: LoadData, conf: Configuration) -> BrokerLoad:
    """The averages after one more report; of a broker that has none, what is reported as it is."""
    report = data.reports[broker]
    usage, throughput = weighted_usage(report, conf), report.throughput
    if load is None:
        return BrokerLoad(usage, throughput)
    return BrokerLoad(averaged(load.weightedMaxEMA, usage, conf), averaged(load.msgThroughputEMA, throughput, conf))


def averaged(average: Any, value: Any, conf: Configuration, samples: int = 1) -> Any:
    """An average, or an array of them, after so many more samples that are all the same."""
    return RIGHT.averaged(average, value, conf.loadBalancerHistoryResourcePercentage**samples)
