"""The ledger settings of a cluster: over how many bookies Pulsar spreads a ledger, and how many must answer."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import BrokerConf, ConfigurationError, Taken

ENSEMBLE = "managedLedgerDefaultEnsembleSize"
WRITE_QUORUM = "managedLedgerDefaultWriteQuorum"
ACK_QUORUM = "managedLedgerDefaultAckQuorum"
DEFAULT = 2


@dataclass(frozen=True)
class LedgerSettings:
    """The sizes of a ledger's quorums, 1 <= ack quorum <= write quorum <= ensemble."""

    ensemble: Taken[int]
    write_quorum: Taken[int]
    ack_quorum: Taken[int]

    @property
    def taken(self) -> tuple[Taken[int], ...]:
        return self.ensemble, self.write_quorum, self.ack_quorum


def ledger_settings(conf: BrokerConf) -> LedgerSettings:
    """The ledger settings in a ``broker.conf``; ConfigurationError if a value is no quorum, or they do not fit each other."""
    ensemble, write_quorum, ack_quorum = (
        conf.number(key, DEFAULT, f"write the number of bookies, such as {key}={DEFAULT}", tell=True)
        for key in (ENSEMBLE, WRITE_QUORUM, ACK_QUORUM)
    )
    _require_order(conf, ack_quorum, write_quorum)
    _require_order(conf, write_quorum, ensemble)
    if ack_quorum.value == 1:
        conf.notes.append(
            f"{ack_quorum}: an acknowledged entry may be on one bookie only; recovery must then hear every bookie of its"
            " write set, and one lost disk loses entries"
        )
    return LedgerSettings(ensemble, write_quorum, ack_quorum)


def _require_order(conf: BrokerConf, smaller: Taken[int], larger: Taken[int]) -> None:
    if smaller.value > larger.value:
        raise ConfigurationError(
            f"{conf.name}: {smaller} is greater than {larger}; lower {smaller.key} to at most {larger.value}"
            f" or raise {larger.key} to at least {smaller.value}",
            smaller.place or larger.place,
        )
