package org.apache.pulsar.metadata.coordination.impl;

import fencepost.MembersBench;
import fencepost.Server;

/** Clients of one ZooKeeper server, which stays, while the clients are new for each run. */
abstract class ClientsBench<C extends Client> extends MembersBench<C> {
    final Server server;

    ClientsBench(Server server) {
        this.server = server;
    }

    @Override
    protected void end() throws Exception {
        for (C client : members.values()) {
            if (client.lives()) {
                client.die();
            }
            client.expire();
            client.expireFormer();
        }
        members.clear();
    }

    @Override
    protected void comesTo(C client) {
        members.values().forEach(each -> each.acts = client == null || each == client);
    }

    @Override
    protected final void settle() throws Exception {
        Client.settle(members.values());
    }

    @Override
    public void close() throws Exception {
        end();
        server.close();
    }
}
