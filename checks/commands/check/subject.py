"""What a check is about: a configuration, perhaps another one before it, and the releases; and what is noted of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fencepost.checks.commands.check.formats import DOCUMENTS
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.console.options import chosen_releases
from fencepost.checks.console.unread import unread
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.ways import never
from fencepost.checks.questions.matters import BOOKIES, Requirement, requirement
from fencepost.checks.questions.planning import configuration_notes
from fencepost.checks.settings.cluster_settings import Cluster, Settings, StartsNoMore, read_settings, starts_no_more
from fencepost.checks.settings.load_manager import mismatches
from fencepost.model.releases import PULSAR, ReleaseError, Releases, followed
from fencepost.properties.configuration import Configuration
from fencepost.properties.ledger.in_cluster import LARGEST_ENSEMBLE
from fencepost.properties.protocols import PROTOCOLS, names_run_by, run_by
from fencepost.properties.registry import Entry, RegistryError


@dataclass(frozen=True)
class Subject:
    """A cluster, if there is a configuration, and the one ``before``; the releases, which nobody named if ``assumed``; what the
    releases silently make of the classes that balance the load; of which protocols nothing is claimed, and why; and
    ``how_known`` the releases are where no option names them. That of the bookies may be ``supposed``: the one that the
    brokers' ships. ``stopped`` says with what brokers of the former release start, and those of this one do not."""

    cluster: Cluster | None
    before: Cluster | None
    releases: Releases | None
    assumed: bool
    classes: tuple[str, ...] = ()
    left_out: str = ""
    how_known: str = ""
    supposed: bool = False
    stopped: StartsNoMore | None = None

    @classmethod
    def of(cls, asked: CheckRequest) -> Subject:
        """What the command line names; of a cluster with a configuration the newest releases, unless named.

        Raises InputError for files that cannot be used, or with which no broker starts, and ReleaseError for a release that is
        not modelled, or that is to be compared with itself.
        """
        named = chosen_releases(asked)
        settings = read_settings(*asked.conf) if asked.conf else None
        deployed = None if settings is None else _deployed(settings, named)
        if settings is None:
            left_out = "" if asked.protocols else _left_out(list(PROTOCOLS), named)
            return cls(None, None, named, assumed=False, left_out=left_out)
        before = read_settings(*asked.against) if asked.against else settings if asked.against_pulsar else None
        named = named if named and named.pulsar else deployed or named
        releases = named if named and named.pulsar else replace(Releases.of(), kafka=named.kafka if named else "")
        former = Releases.of(asked.against_pulsar) if asked.against_pulsar else releases if before is not None else None
        if former == releases and not asked.against:
            where = f"--against-pulsar {asked.against_pulsar} names {releases}"
            raise ReleaseError(f"{where}, which the cluster runs already: name by --pulsar the release that it is to run")
        upgraded = former.pulsar if former and asked.against_pulsar else ""
        stopped = starts_no_more(settings, releases.pulsar, upgraded)
        taken = [one for one in mismatches(settings.load_manager, releases.pulsar) if one.outcome != "stops"]
        classes = tuple(f"note: {one}" for one in taken)
        classes += _about_tag(settings, releases) if deployed is not None else ()
        left_out = _left_out([] if asked.protocols else names_run_by(settings.configuration(releases)), releases)
        how = "assumed" if named is None else "" if deployed is None else "as it says" if asked.cluster else "image tag"
        supposed = deployed is not None and settings.deployment.bookies is None
        notes = (*asked.facts, *classes)
        now, was = _clusters(asked, settings, releases, before, former)
        return cls(now, was, releases, named is None, notes, left_out, how, supposed, stopped)

    @property
    def settings(self) -> Settings | None:
        """The settings of the cluster, if there is one."""
        return None if self.cluster is None else self.cluster.settings

    def clusters(self, asked: CheckRequest) -> list[Cluster]:
        """The cluster, and the one before it. RegistryError if there are fewer bookies than an ensemble has, if an ensemble is
        too large for anything to be searched, or if what is required is about bookies without their file."""
        clusters = [each for each in (self.cluster, self.before) if each is not None]
        largest = max((each.settings.ledger.ensemble for each in clusters), key=lambda taken: taken.value)
        if largest.value > LARGEST_ENSEMBLE:
            raise RegistryError(f"{largest}: ensembles above {LARGEST_ENSEMBLE} are not checked, so nothing is guaranteed")
        if asked.bookies and asked.bookies < largest.value:
            raise RegistryError(f"--bookies {asked.bookies} is fewer than an ensemble, which has {largest.value}")
        about_bookies = [each.text for each in required(asked) if set(each.names) <= set(BOOKIES)]
        if about_bookies and not clusters[0].of_bookies:
            raise RegistryError(f"--require {about_bookies[0]} is about bookies: add the file that they start with by --conf")
        return clusters

    @property
    def release(self) -> str:
        """The releases in words; empty if there are none."""
        return str(self.releases or "")

    def unclaimed(self, names: set[str]) -> str:
        """Why the protocols of these names say nothing of this cluster, or which are left out; empty if they do."""
        if self.left_out:
            return self.left_out
        return self._first(names, lambda entry, cluster: entry.in_cluster.idle(cluster))

    def _first(self, names: set[str], say: Callable[[Entry, Configuration], str]) -> str:
        """What is to say first of the protocols of these names in this cluster; empty if there is nothing."""
        if self.cluster is None:
            return ""
        cluster = self.cluster.configuration
        return next((said for name in PROTOCOLS if name in names and (said := say(PROTOCOLS[name], cluster))), "")

    @property
    def settings_notes(self) -> list[str]:
        """What there is to note of the settings, and of those before, each once."""
        several = [each.settings.all_notes for each in (self.cluster, self.before) if each is not None]
        return list(dict.fromkeys(note for notes in several for note in notes))

    @property
    def run(self) -> set[str]:
        """The protocols that a cluster with these settings runs."""
        return set() if self.cluster is None else {entry.name for entry in run_by(self.cluster.configuration)}

    def unread(self, names: set[str]) -> str:
        """What nobody has read of the releases, of the protocols of these names; empty if everything is read."""
        return unread([PROTOCOLS[name] for name in PROTOCOLS if name in names], self.releases)

    def unasked(self, names: set[str]) -> str:
        """Why the ledgers or the bookies of this cluster are not checked; empty if they are."""
        refusal = self._first(names, lambda entry, cluster: entry.in_cluster.refusal(cluster))
        return f"{refusal}, so nothing is claimed" if refusal else ""

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


def _clusters(
    asked: CheckRequest, settings: Settings, releases: Releases, before: Settings | None, former: Releases | None
) -> tuple[Cluster, Cluster | None]:
    """The cluster, and the one before it: of as many bookies as the option says, as a file deploys, or as the largest ensemble
    has and one more."""
    several = [settings] if before is None else [settings, before]
    counts = [each.deployment.count.value for each in several if each.deployment.count is not None]
    largest = max(each.ledger.ensemble.value for each in several)
    bookies = asked.bookies or (max(*counts, largest) if counts else largest + 1)
    assumed, of_bookies = asked.bookies is None and not counts, any(each.bookies.is_given for each in several)

    def cluster(name: str, files: Sequence[Path], of: Settings, on: Releases) -> Cluster:
        return Cluster(name, Place(files[-1]), of, on, bookies, assumed, of_bookies, asked.racks, asked.groups)

    now = cluster(asked.name or named(asked.conf), asked.conf, settings, releases)
    if before is None or former is None:
        return now, None
    files, release = asked.against or asked.conf, f" on {former}" if asked.against_pulsar else ""
    return now, cluster(f"{named(files)}{release}", files, before, former)


def named(files: Sequence[Path]) -> str:
    """A configuration by its files."""
    return " with ".join(map(str, files))


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
        f"note: {tag.place}: {tag.name} = {tag.value} is not modelled; what is said is of {releases.pulsar}, which it follows",
    )


def _left_out(names: Sequence[str], releases: Releases | None) -> str:
    """The protocols of these names that say nothing of the releases, with the reason; empty if there are none."""
    refused = {name: PROTOCOLS[name].refusal(releases) for name in names if PROTOCOLS[name].refusal(releases)}
    reasons = "; ".join(dict.fromkeys(refused.values()))
    return f"{', '.join(refused)}: {reasons}" if refused else ""


def wanted_alone(asked: CheckRequest) -> bool:
    """Whether the guarantees are all that is asked for."""
    return bool(asked.guarantees or asked.against or asked.against_pulsar)


def come_first(asked: CheckRequest) -> bool:
    """Whether the report opens with the guarantees: it does for a configuration as a whole, of which nothing is changed."""
    return bool(asked.conf) and not _parts(asked)


BOTH_SIDES = "give its policies by --conf, and those there are by --against, each after the file of the brokers"
"""How one namespace is compared."""


def refuse(asked: CheckRequest) -> None:
    """Raises RegistryError for options that have no use for each other."""
    if asked.symmetry and asked.by not in (None, "exhaustive"):
        raise RegistryError(f"--symmetry needs exhaustive search; --by {asked.by} does not support it")
    if asked.any and asked.by not in (None, "induction"):
        raise RegistryError(f"--any needs --by induction; --by {asked.by} checks one size at a time")
    if asked.any and asked.conf:
        raise RegistryError("--any works with the parameters of --set, not with --conf")
    if asked.odds is not None and (wanted_alone(asked) or not come_first(asked)):
        raise RegistryError("--odds is of a configuration as a whole: fencepost check --conf broker.conf --odds")
    of_a_whole = {"way": asked.way, "never": asked.never, "namespace": asked.namespace}
    named = [name for name, value in of_a_whole.items() if value]
    if named and not come_first(asked):
        raise RegistryError(f"--{named[0]} is of a configuration as a whole: add --conf broker.conf")
    unused = [name for name in named if name == "way" or not (asked.against_pulsar or asked.profile)]
    if unused and wanted_alone(asked):
        alone = next(name for name in ("guarantees", "against", "against_pulsar") if getattr(asked, name))
        remedy = BOTH_SIDES if (unused[0], alone) == ("namespace", "against") else "leave one of them out"
        raise RegistryError(f"--{unused[0]} has no use with --{alone.replace('_', '-')}: {remedy}")
    of_all = (*DOCUMENTS, "html", "trace_dir", "write_baseline", "odds", "require")
    if asked.way is not None and (whole := [name for name in of_all if getattr(asked, name)]):
        options = ", ".join(f"--{name.replace('_', '-')}" for name in whole)
        raise RegistryError(f"--way prints one way as a story, and checks no more: leave out {options}")
    if asked.write_baseline is not None and wanted_alone(asked):
        raise RegistryError("--write-baseline accepts what a whole check finds: leave out --guarantees and --against")
    never(asked.never)
    if asked.resume and asked.checkpoint is None:
        raise RegistryError("--resume continues from a checkpoint: add --checkpoint DIR")
    _refuse_parts(asked)


def _refuse_parts(asked: CheckRequest) -> None:
    """Raises RegistryError if what is required cannot be, or if guarantees are asked for, and not of a configuration, or of a
    part of one."""
    required(asked)
    options = {"--guarantees": asked.guarantees, "--require": asked.require, "--against": asked.against}
    options |= {"--against-pulsar": asked.against_pulsar, "--bookies": asked.bookies}
    named = [option for option, value in options.items() if value]
    if named and not asked.conf:
        raise RegistryError("--guarantees needs a configuration: add --conf broker.conf")
    if named and (parts := _parts(asked)):
        raise RegistryError(f"{named[0]} judges a configuration as a whole: leave out {', '.join(parts)}")


def required(asked: CheckRequest) -> list[Requirement]:
    """What is required; RegistryError if that cannot be."""
    return [requirement(text) for text in asked.require]


def is_of_everything(asked: CheckRequest) -> bool:
    """Whether nothing on the command line asks for a part: of a configuration, or of all protocols."""
    return not _parts(asked)


def _parts(asked: CheckRequest) -> list[str]:
    """What on the command line asks for something else than a configuration as a whole."""
    options = {"--property": asked.property, "--set": asked.set, "--bug": asked.bug, "--by": asked.by}
    return [*asked.protocols, *(option for option, value in options.items() if value)]
