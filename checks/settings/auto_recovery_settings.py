"""The settings of auto-recovery, which are in the file of a bookie.

Mirrors ServerConfiguration of bookkeeper-server: isAutoRecoveryDaemonEnabled, getAuditorPeriodicBookieCheckInterval and
getAuditorPeriodicCheckInterval.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.checks.settings.bookie_settings import flag_of_a_bookie
from fencepost.checks.settings.broker_conf import LARGEST, BrokerConf, Taken

RUNS, AUDITS = "autoRecoveryDaemonEnabled", "auditorPeriodicBookieCheckInterval"
CHECKS = "auditorPeriodicCheckInterval"
A_DAY, A_WEEK = 86_400, 604_800


@dataclass(frozen=True)
class AutoRecoverySettings:
    """Whether bookies run auto-recovery, and after how many seconds the auditor looks again for bookies that are away, and
    checks every ledger."""

    runs: Taken[bool]
    audits: Taken[int]
    checks: Taken[int]

    @property
    def taken(self) -> tuple[Taken[bool] | Taken[int], ...]:
        """All, in the order in which they are reported."""
        return self.runs, self.audits, self.checks

    @property
    def unmodelled(self) -> str:
        """Why nothing is asked of auto-recovery; empty if it runs."""
        if self.runs.value:
            return ""
        return f"{self.runs}: these bookies run no auto-recovery; add the file of the daemon that does by --conf"


def auto_recovery_settings(conf: BrokerConf) -> AutoRecoverySettings:
    """The settings of auto-recovery in the files of bookies; ConfigurationError for a value that BookKeeper refuses."""
    remedy = "write a number of seconds, or 0 for no such audit"
    audits, checks = conf.number(AUDITS, A_DAY, remedy, least=0), conf.number(CHECKS, A_WEEK, remedy, least=-LARGEST)
    return AutoRecoverySettings(flag_of_a_bookie(conf, RUNS, True), audits, checks)
