package org.apache.bookkeeper.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import io.netty.util.HashedWheelTimer;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.feature.SettableFeatureProvider;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.net.BookieSocketAddress;
import org.apache.bookkeeper.net.DNSToSwitchMapping;
import org.apache.bookkeeper.stats.NullStatsLogger;

/**
 * Asks a placement policy for ensembles, and for the bookies that replace members of racks that are cut off. A bookie is RACK-NUMBER.
 *
 * <p>A case has the sizes and the regions of racks, which of them are away before the ensemble and after it, the quorums, the
 * policy with its settings, a seed and how often to draw. The answer has each draw: the racks of the ensemble, or null; and of each
 * member that is away after it the rack of the bookie that replaces it, or -1.
 */
public final class PlacementBench implements Lines.Target {
    private static final String PORT = ":3181";
    private final HashedWheelTimer timer = new HashedWheelTimer();

    public static void main(String[] arguments) throws Exception {
        Lines.serve(PlacementBench::new);
    }

    @Override
    public void answer(JsonNode request, ObjectNode answer) throws Exception {
        ArrayNode answers = answer.putArray("cases");
        for (JsonNode each : request.get("cases")) {
            Field random = Collections.class.getDeclaredField("r");
            random.setAccessible(true);
            random.set(null, new Random(each.get("seed").asLong())); // of Collections.shuffle, by which the policies draw
            ArrayNode draws = answers.addArray();
            for (int draw = 0; draw < each.get("draws").asInt(); draw++) {
                take(each, new Racks(each, draw), draws.addObject());
            }
        }
    }

    private void take(JsonNode asked, Racks named, ObjectNode draw) throws Exception {
        List<BookieId> members;
        EnsemblePlacementPolicy policy;
        int ensemble = asked.get("ensemble").asInt();
        int writes = asked.get("write_quorum").asInt();
        int acks = asked.get("ack_quorum").asInt();
        try {
            policy = policy(asked, named);
            policy.onClusterChanged(bookies(asked, Set.of()), Set.of());
            policy.onClusterChanged(bookies(asked, numbers(asked.get("before"))), Set.of());
            members = policy.newEnsemble(ensemble, writes, acks, Map.of(), new HashSet<>()).getResult();
        } catch (BKException.BKNotEnoughBookiesException | IllegalArgumentException e) {
            draw.putNull("racks");
            return;
        }
        ArrayNode racks = draw.putArray("racks");
        members.forEach(each -> racks.add(rack(each)));
        Set<Integer> away = numbers(asked.get("after"));
        policy.onClusterChanged(bookies(asked, away), Set.of());
        ArrayNode replaced = draw.putArray("replaced");
        for (BookieId old : members) {
            replaced.add(away.contains(rack(old)) ? replacement(policy, asked, members, old) : -1);
        }
    }

    private int replacement(EnsemblePlacementPolicy policy, JsonNode asked, List<BookieId> members, BookieId old) {
        try {
            return rack(policy.replaceBookie(asked.get("ensemble").asInt(), asked.get("write_quorum").asInt(),
                    asked.get("ack_quorum").asInt(), Map.of(), new ArrayList<>(members), old, new HashSet<>(Set.of(old))).getResult());
        } catch (BKException.BKNotEnoughBookiesException e) {
            return -1;
        }
    }

    private EnsemblePlacementPolicy policy(JsonNode asked, Racks named) throws ReflectiveOperationException {
        ClientConfiguration conf = new ClientConfiguration();
        conf.setMinNumRacksPerWriteQuorum(asked.get("min_racks").asInt());
        conf.setEnforceMinNumRacksPerWriteQuorum(asked.get("enforced").asBoolean());
        conf.setIgnoreLocalNodeInPlacementPolicy(true);
        if (asked.get("listed").asBoolean()) {
            conf.setProperty(RegionAwareEnsemblePlacementPolicy.REPP_REGIONS_TO_WRITE, String.join(";", named.regions()));
            conf.setProperty(RegionAwareEnsemblePlacementPolicy.REPP_MINIMUM_REGIONS_FOR_DURABILITY, asked.get("min_regions").asInt());
            conf.setProperty(RegionAwareEnsemblePlacementPolicy.REPP_ENABLE_DURABILITY_ENFORCEMENT_IN_REPLACE,
                    asked.get("in_replace").asBoolean());
        }
        EnsemblePlacementPolicy policy = switch (asked.get("policy").asText()) {
            case "random" -> new DefaultEnsemblePlacementPolicy();
            case "regionaware" -> new RegionAwareEnsemblePlacementPolicy();
            case "isolated" -> Isolation.policy(asked, conf, rack -> bookies(asked, rack));
            default -> new RackawareEnsemblePlacementPolicy();
        };
        return policy.initialize(conf, Optional.of(named), timer, new SettableFeatureProvider("", 0), NullStatsLogger.INSTANCE,
                BookieSocketAddress.LEGACY_BOOKIEID_RESOLVER);
    }

    /** Those of the racks that are not away. */
    private static Set<BookieId> bookies(JsonNode asked, Set<Integer> away) {
        Set<BookieId> there = new HashSet<>();
        for (int rack = 0; rack < asked.get("racks").size(); rack++) {
            if (!away.contains(rack)) {
                bookies(asked, rack).forEach(bookie -> there.add(BookieId.parse(bookie)));
            }
        }
        return there;
    }

    private static List<String> bookies(JsonNode asked, int rack) {
        List<String> bookies = new ArrayList<>();
        for (int number = 0; number < asked.get("racks").get(rack).asInt(); number++) {
            bookies.add("bookie-" + rack + "-" + number + PORT);
        }
        return bookies;
    }

    private static Set<Integer> numbers(JsonNode listed) {
        Set<Integer> numbers = new HashSet<>();
        listed.forEach(each -> numbers.add(each.asInt()));
        return numbers;
    }

    private static int rack(BookieId bookie) {
        return Integer.parseInt(bookie.getId().split("-")[1]);
    }

    /**
     * The rack of a bookie is in its name, and the case says which region a rack is in. Each draw gives the regions other names: a
     * policy goes from region to region in the order in which the names are hashed, so that several orders come up.
     */
    private static final class Racks implements DNSToSwitchMapping {
        private final List<String> named = new ArrayList<>();

        Racks(JsonNode asked, int draw) {
            Set<Integer> regions = numbers(asked.get("regions"));
            int steps = draw % 2 == 0 ? 1 : regions.size() - 1;
            asked.get("regions").forEach(region -> named.add("/region-" + (region.asInt() * steps + draw) % regions.size()));
        }

        Set<String> regions() {
            Set<String> regions = new HashSet<>();
            named.forEach(region -> regions.add(region.substring(1)));
            return regions;
        }

        @Override
        public List<String> resolve(List<String> names) {
            List<String> racks = new ArrayList<>();
            names.forEach(name -> racks.add(named.get(Integer.parseInt(name.split("-")[1])) + "/rack-" + name.split("-")[1]));
            return racks;
        }

        @Override
        public void reloadCachedMappings() {
        }
    }

    @Override
    public void close() {
        timer.stop();
    }
}
