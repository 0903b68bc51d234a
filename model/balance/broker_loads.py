"""The averages by which brokers of the extensible manager are compared: each broker's own, of its usage and its throughput.

Mirrors BrokerLoadData of pulsar-broker. A snapshot of the modular manager's reports does not have them; they are then
advanced from one snapshot to the next, the first as it is.
"""

from __future__ import annotations

from model.balance.averages import exponential
from model.balance.configuration import Configuration
from model.balance.load_data import BrokerLoad, LoadData, LocalBrokerData
from model.balance.usage import weighted_usage


def broker_loads(data: LoadData, conf: Configuration) -> dict[str, BrokerLoad]:
    """The averages of every broker with a report: those given, or a first sample."""
    return {
        broker: data.loads[broker] if broker in data.loads else advanced(None, broker, data, conf) for broker in data.reports
    }


def advanced(load: BrokerLoad | None, broker: str, data: LoadData, conf: Configuration) -> BrokerLoad:
    """The averages after one more report."""
    return averaged(load, data.reports[broker], conf)


def averaged(load: BrokerLoad | None, report: LocalBrokerData, conf: Configuration, samples: int = 1) -> BrokerLoad:
    """The averages after so many more samples that are all the same; of a broker that has none, the sample as it is."""
    usage, throughput = weighted_usage(report, conf), report.throughput
    if load is None:
        return BrokerLoad(usage, throughput)
    weight = conf.loadBalancerHistoryResourcePercentage**samples
    return BrokerLoad(
        exponential(load.weightedMaxEMA, usage, weight), exponential(load.msgThroughputEMA, throughput, weight)
    )
