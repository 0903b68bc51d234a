"""What a check is about: a configuration, perhaps another one before it, and the releases; and what is noted of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.console.options import chosen_releases
from fencepost.checks.console.unread import unread
from fencepost.checks.questions.instances import (
    BOOKIE,
    LARGEST_ENSEMBLE,
    LOCKED,
    SERVICE_UNIT,
    Settings,
    is_run,
    read_settings,
    unclaimed,
)
from fencepost.checks.questions.planning import configuration_notes
from fencepost.checks.settings.control_plane_settings import require_algorithms
from fencepost.checks.settings.load_manager import as_taken
from fencepost.model.releases import PULSAR, Releases, followed
from fencepost.properties.protocols import PROTOCOLS


@dataclass(frozen=True)
class Subject:
    """The settings of a cluster, if there are any, and those ``before``; the releases, which nobody named if ``assumed``, and
    those ``former`` ones that the settings before had; what the releases silently make of the classes that balance the load;
    of which protocols nothing is claimed, and why; and whether image tags say the releases."""

    settings: Settings | None
    before: Settings | None
    releases: Releases | None
    former: Releases | None
    assumed: bool
    classes: tuple[str, ...] = ()
    left_out: str = ""
    deployed: bool = False

    @classmethod
    def of(cls, asked: CheckRequest) -> Subject:
        """What the command line names; of a cluster with a configuration the newest releases, unless named.

        Raises InputError for files that cannot be used, or with which no broker starts, and ReleaseError for a release that is
        not modelled.
        """
        named = chosen_releases(asked)
        settings = read_settings(*asked.conf) if asked.conf else None
        deployed = None if settings is None else _deployed(settings, named)
        if settings is None:
            left_out = "" if asked.protocols else _left_out(list(PROTOCOLS), named)
            return cls(None, None, named, None, assumed=False, left_out=left_out)
        before = read_settings(*asked.against) if asked.against else settings if asked.against_pulsar else None
        named = named if named and named.pulsar else deployed or named
        releases = named if named and named.pulsar else replace(Releases.of(), kafka=named.kafka if named else "")
        former = Releases.of(asked.against_pulsar) if asked.against_pulsar else releases if before is not None else None
        upgraded = former.pulsar if former and asked.against_pulsar else ""
        require_algorithms(settings.control_plane, releases.pulsar)
        classes = tuple(f"note: {note}" for note in as_taken(settings.load_manager, releases.pulsar, upgraded))
        classes += _about_tag(settings, releases) if deployed is not None else ()
        owns = [SERVICE_UNIT] if settings.load_manager.is_extensible(releases.pulsar) and not asked.protocols else []
        return cls(settings, before, releases, former, named is None, classes, _left_out(owns, releases), deployed is not None)

    @property
    def how_known(self) -> str:
        """How the releases are known where no option names them; empty if one does."""
        return "assumed" if self.assumed else "image tag" if self.deployed else ""

    @property
    def release(self) -> str:
        """The releases in words; empty if there are none."""
        return str(self.releases or "")

    def unclaimed(self, names: set[str]) -> str:
        """Why the protocols of these names say nothing of this cluster, or which are left out; empty if they do."""
        if self.left_out:
            return self.left_out
        if self.settings is None or self.releases is None or not names & set(LOCKED):
            return ""
        return unclaimed(self.settings, self.releases.pulsar)

    @property
    def settings_notes(self) -> list[str]:
        """What there is to note of the settings, and of those before, each once."""
        several = [settings.all_notes for settings in (self.settings, self.before) if settings is not None]
        return list(dict.fromkeys(note for notes in several for note in notes))

    @property
    def run(self) -> set[str]:
        """The protocols that a cluster with these settings runs."""
        if self.settings is None or self.releases is None:
            return set()
        return {name for name in PROTOCOLS if is_run(name, self.settings.load_manager, self.releases.pulsar)}

    def unread(self, names: set[str]) -> str:
        """What nobody has read of the releases, of the protocols of these names; empty if everything is read."""
        return unread([PROTOCOLS[name] for name in PROTOCOLS if name in names], self.releases)

    def unasked(self, names: set[str]) -> str:
        """Why the ledgers or the bookies of this cluster are not checked; empty if they are."""
        if self.settings is None:
            return ""
        ensemble, bookies = self.settings.ledger.ensemble, self.settings.bookies
        if "ledger" in names and ensemble.value > LARGEST_ENSEMBLE:
            return f"{ensemble}: ensembles above {LARGEST_ENSEMBLE} are not checked, so nothing is claimed"
        if BOOKIE in names and bookies.is_given and bookies.unmodelled:
            return f"{bookies.unmodelled}, so nothing is claimed"
        return ""

    def remarks(self, names: set[str]) -> list[str]:
        """What a person has to know of the settings, and of what the protocols of these names leave open."""
        unknown = self.unclaimed(names)
        instead = self.releases is not None and self.releases.instead
        left = [f"nothing is claimed: {unknown}" if unknown else "", "" if instead else self.unread(names)]
        return [*self.settings_notes, *self.classes, *filter(None, left)]

    def notes(self, names: set[str]) -> list[str]:
        """What there is to say before the protocols of these names are checked."""
        notes: list[str] = []
        if self.settings is not None:
            notes = [*configuration_notes(self.settings, names, self.releases), *self.classes]
        if unknown := self.unclaimed(names):
            notes.append(f"nothing is claimed: {unknown}")
        if self.releases is not None:
            assumed = ", assumed; override with --pulsar and --bookkeeper" if self.assumed else ""
            notes.append(f"releases: {self.releases}{assumed}")
            notes.append("instances: without the known bugs of these releases, unless one is named")
        instead = self.releases.instead if self.releases is not None else ()
        return [*instead, *notes, *([] if instead else filter(None, [self.unread(names)]))]


def _deployed(settings: Settings, named: Releases | None) -> Releases | None:
    """The releases that the image tags of a file say; None if they say none, or others are named."""
    brokers, bookies = settings.deployment.brokers, settings.deployment.bookies
    if (named and (named.pulsar or named.bookkeeper)) or brokers is None:
        return None
    pulsar = followed("pulsar", brokers.value)
    bookkeeper = PULSAR[followed("pulsar", bookies.value)] if bookies is not None else None
    return Releases.of(pulsar, bookkeeper, named.kafka if named else None)


def _about_tag(settings: Settings, releases: Releases) -> tuple[str, ...]:
    """Which release an image tag stands for, where its own is not modelled."""
    tag = settings.deployment.brokers
    if tag is None or tag.value == releases.pulsar:
        return ()
    return (
        f"note: {tag.place}: {tag.key} = {tag.value} is not modelled; what is said is of {releases.pulsar}, which it follows",
    )


def _left_out(names: Sequence[str], releases: Releases | None) -> str:
    """The protocols of these names that say nothing of the releases, with the reason; empty if there are none."""
    refused = {name: PROTOCOLS[name].refusal(releases) for name in names if PROTOCOLS[name].refusal(releases)}
    reasons = "; ".join(dict.fromkeys(refused.values()))
    return f"{', '.join(refused)}: {reasons}" if refused else ""
