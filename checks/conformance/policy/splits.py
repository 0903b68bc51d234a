"""What is split and where it is cut; hashes of topics and their bundles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from fencepost.checks.conformance.policy import wire
from fencepost.checks.conformance.policy.cases import Case, Rule
from fencepost.checks.conformance.policy.chance import RATES, THROUGHPUTS, amount, cluster, settings
from fencepost.checks.conformance.policy.wire import Answer
from fencepost.model.balance.configuration import Version, defaults
from fencepost.model.balance.splitting import bundles_to_split
from fencepost.model.pulsar.hash_range import Bundle, HashRange, Layout, Refused, TopicLoad, topic_hash
from fencepost.model.pulsar.hash_range import algorithms as cuts

LAST = 0xFFFFFFFF
LIMITS = (
    "loadBalancerNamespaceBundleMaxTopics",
    "loadBalancerNamespaceBundleMaxSessions",
    "loadBalancerNamespaceBundleMaxMsgRate",
    "loadBalancerNamespaceBundleMaxBandwidthMbytes",
    "loadBalancerNamespaceMaximumBundles",
)


class Planned(Rule):
    """What the leader of the modular manager splits in one pass."""

    name = "splits of the modular manager"
    mirrors = "BundleSplitterTask.findBundlesToSplit"

    def draw(self, random: Random, release: Version) -> Case:
        conf = settings(random, release, LIMITS)
        return Case(self.name, "BundleSplitterTask", conf, (cluster(random, conf),))

    def request(self, case: Case) -> Mapping[str, object]:
        (load,) = case.rounds
        return {"rule": "split", "conf": wire.settings(case.conf), **wire.load(load), "counts": dict(load.bundle_counts)}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        (load,) = case.rounds
        data = replace(load, brokers=wire.in_order(load.brokers, answer["brokers"]))
        ours, theirs = {split.bundle for split in bundles_to_split(data, case.conf)}, set(answer["split"])
        return [] if ours == theirs else [f"the model splits {sorted(ours)}, the class {sorted(theirs)}"]


class Cuts(Rule):
    """Where an algorithm cuts a bundle."""

    name = "split algorithms"
    mirrors = "NamespaceBundleSplitAlgorithm.getSplitBoundary"

    def draw(self, random: Random, release: Version) -> Case:
        known = (cuts.RANGE, cuts.TOPIC_COUNT) if release == "2.10.1" else cuts.ALGORITHMS
        lower, upper = sorted(random.sample(range(0, LAST, random.choice((1, 0x10000000))), 2))
        upper = LAST if random.random() < 0.2 else upper
        names = [f"persistent://t/n/topic-{random.randint(0, 10**6)}" for _ in range(random.choice((0, 1, 2, 3, 5, 9)))]
        topics = [(name, amount(random, RATES), amount(random, THROUGHPUTS)) for name in dict.fromkeys(names)]
        edges = (lower, upper, lower + 1, upper - 1, (lower + upper) // 2)
        positions = [random.choice(edges) if random.random() < 0.5 else random.randint(0, LAST) for _ in range(3)]
        limits = (random.choice((0, 1000, 30_000)), random.choice((0, 1, 100, 4096)), random.choice((0, 10, 50)))
        more = {"bundle": Bundle(lower, upper), "topics": topics, "positions": positions, "limits": limits}
        return Case(self.name, random.choice(known), defaults(release), more=more)

    def request(self, case: Case) -> Mapping[str, object]:
        rate, mebibytes, threshold = case.more["limits"]
        topics = [{"name": n, "msgRateIn": r, "msgThroughputIn": t} for n, r, t in case.more["topics"]]
        return {
            "rule": "cut",
            "algorithm": case.subject,
            "namespace": "t/n",
            "range": str(case.more["bundle"]),
            "topics": topics,
            "positions": case.more["positions"],
            "rate": rate,
            "mebibytes": mebibytes,
            "threshold": threshold,
        }

    def differences(self, case: Case, answer: Answer) -> list[str]:
        ours, theirs = self._ours(case), answer.get("boundaries") or None
        if "throws" in answer:
            return [f"{case.subject}: the class throws {answer['throws']}: {answer['message']}"]
        return [] if (ours or None) == theirs else [f"{case.subject}: the model cuts at {ours}, the class at {theirs}"]

    @staticmethod
    def _ours(case: Case) -> list[int] | None:
        bundle, positions = case.more["bundle"], case.more["positions"]
        topics = [TopicLoad(topic_hash(name), rate, throughput) for name, rate, throughput in case.more["topics"]]
        if case.subject == cuts.RANGE:
            return cuts.range_equally_divide(bundle)
        if case.subject == cuts.TOPIC_COUNT:
            return cuts.topic_count_equally_divide([topic.hash for topic in topics])
        if case.subject == cuts.POSITIONS:
            return cuts.specified_positions_divide(bundle, positions, len(topics))
        rate, mebibytes, threshold = case.more["limits"]
        return cuts.flow_or_qps_equally_divide(topics, most_rate=rate, most_mebibytes=mebibytes, threshold_percentage=threshold)

    def smaller(self, case: Case) -> Iterator[Case]:
        for name in ("topics", "positions"):
            for place in range(len(case.more[name])):
                less = [*case.more[name][:place], *case.more[name][place + 1 :]]
                if less:
                    yield replace(case, more={**case.more, name: less})


class Lookups(Rule):
    """The hash of a topic and the bundle in which it is looked up, the last boundary included."""

    name = "hashes and lookups"
    mirrors = "NamespaceBundleFactory.getLongHashCode, NamespaceBundles.getBundle"

    def draw(self, random: Random, release: Version) -> Case:
        inner = sorted(set(random.sample(range(1, LAST), random.randint(0, 6))))
        boundaries = (0, *inner, LAST)
        asked: dict[str, object] = {"topic": "".join(chr(random.choice((0x2F, 0x61, 0xE9, 0x4E2D, 0x1F600))) for _ in range(9))}
        if random.random() < 0.5:
            asked = {"hash": random.choice((*boundaries, random.randint(0, LAST), *(b - 1 for b in boundaries[1:])))}
        return Case(self.name, "NamespaceBundles", defaults(release), more={"boundaries": boundaries, **asked})

    def request(self, case: Case) -> Mapping[str, object]:
        return {"rule": "hash", **case.more, "boundaries": list(case.more["boundaries"])}

    def differences(self, case: Case, answer: Answer) -> list[str]:
        place = topic_hash(case.more["topic"]) if "topic" in case.more else case.more["hash"]
        upstream = HashRange(bugs=frozenset({"lookup_hits_last_boundary"}))
        try:
            bundle = Layout(case.more["boundaries"], upstream).find(place)
        except Refused as refusal:
            bundle = None
            if "throws" not in answer:
                return [f"the model refuses: {refusal}"]
        ours = (None if bundle is None else place, None if bundle is None else str(bundle))
        theirs = (answer.get("hash") if "bundle" in answer else None, answer.get("bundle"))
        return [] if ours == theirs else [f"hash and bundle: model {ours}, class {theirs}"]


PLANNED, CUTS, LOOKUPS = Planned(), Cuts(), Lookups()
