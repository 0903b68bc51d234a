package org.apache.pulsar.metadata.coordination.impl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import fencepost.Lines;
import fencepost.Server;
import java.util.ArrayList;
import java.util.List;

/**
 * The locks of brokers and their OwnershipCache; {@code begin} has the names of {@code brokers} and {@code bundles}, and whether the
 * metadata may be migrated ({@code migration}): then the run has two servers of its own.
 */
public final class OwnershipBench extends BundlesBench<Owner> {
    private Migration migration;

    private OwnershipBench() throws Exception {
        super(Wire.server());
    }

    public static void main(String[] arguments) throws Exception {
        Lines.serve(OwnershipBench::new);
    }

    @Override
    void begin(JsonNode request, String namespace) throws Exception {
        List<String> bundles = new ArrayList<>();
        request.get("bundles").forEach(name -> bundles.add(name.asText()));
        migration = request.path("migration").asBoolean() ? new Migration("/namespace/" + namespace) : null;
        Server from = migration == null ? server : migration.source;
        for (JsonNode name : request.get("brokers")) {
            Owner broker = new Owner(name.asText(), from, namespace, bundles, migration);
            members.put(broker.name, broker);
            broker.start();
        }
        withParents(namespace);
    }

    @Override
    protected void end() throws Exception {
        super.end();
        if (migration != null) {
            migration.end();
            migration = null;
        }
    }

    @Override
    void take(String step) throws Exception {
        switch (step) {
            case "start-migration":
                migration.start();
                break;
            case "complete-migration":
                orRefuse(migration.isPrepared(), "the coordinator waits");
                migration.copy();
                settle();
                for (Owner broker : members.values()) {
                    if (broker.isReadOnly() && broker.hasNewsOfMigration()) { // one that is cut off has none
                        broker.hearOfMigration();
                    }
                }
                settle();
                migration.complete();
                break;
            default:
                super.take(step);
        }
    }

    @Override
    protected void tell(ObjectNode seen) throws Exception {
        super.tell(seen);
        if (migration != null) {
            seen.put("migrates", migration.isPossible());
            seen.put("migration", migration.phase());
            ObjectNode nodes = seen.putObject("target");
            Owner any = members.values().iterator().next();
            for (String bundle : any.bundles()) {
                ObjectNode told = nodes.putObject(bundle);
                Server.Node node = migration.target.node(any.path(bundle));
                if (node != null) {
                    told.put("version", node.version());
                    told.put("owner", named(Lines.JSON.readTree(node.value())).name);
                    told.put("session", members.values().stream()
                            .filter(broker -> broker.hasInTarget(node.owner())).findAny().map(broker -> broker.name).orElse("none"));
                }
            }
        }
    }

    @Override
    void take(Owner broker, String step, String bundle, JsonNode request) throws Exception {
        String what = request.path("what").asText();
        String none = broker.name + " has no request outstanding: " + what;
        switch (step) {
            case "hear-of-migration":
                broker.hearOfMigration();
                break;
            case "prepare":
                broker.prepare();
                break;
            case "hear-and-migrate":
                broker.hearOfMigration();
                settle();
                broker.migrate();
                break;
            case "look-up":
                broker.lookUp(bundle);
                break;
            case "let-second":
                orRefuse(broker.letSecond(bundle, what), broker.name + " has one such request at most: " + what);
                break;
            case "let-and-leave":
                broker.slow(true);
                boolean there = broker.let(bundle, what, true);
                settle();
                broker.slow(false);
                orRefuse(there, none);
                break;
            case "clean-up":
                orRefuse(broker.close(), broker.name + " has nothing left to clean up");
                break;
            case "unload":
                broker.unload(bundle);
                break;
            case "meet-fence":
                broker.meetFence(bundle);
                break;
            case "remove":
                broker.remove(bundle);
                break;
            case "disable":
                orRefuse(broker.disable(bundle), broker.name + " writes nothing");
                break;
            default:
                throw new IllegalArgumentException("no such step: " + step);
        }
    }
}
