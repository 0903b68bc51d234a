"""What can happen in an instance at all, so that it has no steps that are never taken."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.model.language import Parameters


@dataclass(frozen=True)
class Possible:
    """What the parameters of an instance leave possible."""

    settings: Parameters

    def _any(self, *names: str) -> bool:
        return any(self.settings.get(name, 0) > 0 for name in names)

    @property
    def opens_again(self) -> bool:
        """The topic is opened when there is a list."""
        return bool(self.settings["openings"] > 1)

    @property
    def rivals(self) -> bool:
        """Two brokers have the topic."""
        return self.opens_again and bool(self.settings["brokers"] > 1)

    @property
    def fences(self) -> bool:
        """A write fails, and the topic fences itself for that."""
        return self._any("failures", "terminations", "slow_updates")

    @property
    def closes(self) -> bool:
        """A topic is closed: unloaded, or as its managed ledger is fenced."""
        return self.rivals or self._any("failures", "closings", "transfers")

    @property
    def recovered_elsewhere(self) -> bool:
        """The writer of a ledger hears that somebody else has closed it."""
        return self.rivals or self._any("recoveries", "add_failures")

    @property
    def deletes(self) -> bool:
        """A ledger that was listed is deleted."""
        return self._any("trims", "deletions")

    @property
    def trims(self) -> bool:
        """Ledgers are trimmed."""
        return self._any("trims")

    @property
    def transfers(self) -> bool:
        """The topic is closed before its clients are disconnected."""
        return self._any("transfers")

    @property
    def updates_properties(self) -> bool:
        """The topic gets other properties."""
        return self._any("property_updates")

    @property
    def closes_timed_out(self) -> bool:
        """An add that fails or times out closes the handle of its ledger, and waits for that."""
        return bool(self.settings.get("closes_timed_out", False))

    @property
    def aborts_rollover(self) -> bool:
        """What waits for a rollover as the topic is terminated waits until that is aborted."""
        return self._any("terminations") and bool(self.settings.get("aborts_rollover", False))

    @property
    def gives_up(self) -> bool:
        """A broker that meets a fence may know that its session is lost."""
        return self.rivals and bool(self.settings.get("gives_up", False))

    @property
    def fails(self) -> bool:
        """The metadata store fails."""
        return self._any("failures")

    @property
    def is_slow(self) -> bool:
        """An update of the list outlasts a time-out."""
        return self._any("slow_updates")

    @property
    def fills(self) -> bool:
        """A ledger gets as many entries as it may have."""
        again = 1 if self.settings["dedup"] else max(self.settings["connections"], 1)
        return bool(self.settings["capacity"] <= self.settings["messages"] * again)
