package org.apache.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Queue;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.server.CalledConnection;
import org.apache.zookeeper.server.CalledLink;

/**
 * What ZooKeeper's client has in the place of a socket (ClientCnxnSocketNIO) when its server is called: frames go straight to
 * the server. All else of the client is its own.
 */
public final class CalledSocket extends ClientCnxnSocket {
    private CalledLink link;
    private CalledConnection connection;
    private InetSocketAddress address;
    private boolean woken;

    public CalledSocket(ZKClientConfig config) throws IOException {
        clientConfig = config;
        initProperties();
    }

    /** From now on clients of this JVM have no other. */
    public static void use() {
        System.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, CalledSocket.class.getName());
    }

    @Override
    boolean isConnected() {
        return link != null;
    }

    @Override
    void connect(InetSocketAddress to) throws IOException {
        initialized = false;
        address = to;
        link = CalledLink.at(to.getPort());
        if (link == null) {
            throw new IOException("nobody is called there");
        }
        wake();
    }

    private synchronized void wake() {
        woken = true;
        notifyAll();
    }

    private synchronized void await(int millis) throws InterruptedException {
        if (!woken) {
            wait(Math.max(millis, 1));
        }
        woken = false;
    }

    @Override
    void doTransport(int millis, Queue<ClientCnxn.Packet> pending, ClientCnxn client) throws IOException, InterruptedException {
        await(millis);
        updateNow();
        if (connection == null) {
            connection = link.connect(this::wake);
            if (connection == null) {
                return;
            }
            updateLastSendAndHeard();
            sendThread.primeConnection();
        }
        hear();
        // a packet without a header begins the session: what follows waits until that is answered
        for (var packet = outgoingQueue.peekFirst(); packet != null && (initialized || packet.requestHeader == null);
                packet = outgoingQueue.peekFirst()) {
            send(packet, pending, client);
            hear();
        }
        if (connection.isBroken()) {
            throw new ClientCnxn.EndOfStreamException("the connection of session 0x" + Long.toHexString(sessionId) + " is broken");
        }
    }

    private void hear() throws IOException {
        for (ByteBuffer frame = connection.poll(); frame != null; frame = connection.poll()) {
            recvCount.getAndIncrement();
            if (initialized) {
                sendThread.readResponse(frame);
            } else {
                incomingBuffer = frame;
                readConnectResult();
                initialized = true;
            }
            updateLastHeard();
        }
    }

    private void send(ClientCnxn.Packet packet, Queue<ClientCnxn.Packet> pending, ClientCnxn client) throws IOException {
        updateLastSend();
        boolean answered = packet.requestHeader != null && packet.requestHeader.getType() != OpCode.ping
                && packet.requestHeader.getType() != OpCode.auth;
        if (packet.bb == null) {
            if (answered) {
                packet.requestHeader.setXid(client.getXid());
            }
            packet.createBB();
        }
        outgoingQueue.removeFirstOccurrence(packet);
        if (answered) {
            synchronized (pending) {
                pending.add(packet);
            }
        }
        sendPacket(packet);
    }

    @Override
    void sendPacket(ClientCnxn.Packet packet) throws IOException {
        packet.createBB();
        sentCount.getAndIncrement();
        ByteBuffer frame = packet.bb;
        frame.getInt();
        connection.receive(frame.slice());
    }

    @Override
    void cleanup() {
        if (connection != null) {
            connection.leave();
        }
        connection = null;
        link = null;
    }

    @Override
    void close() {
        cleanup();
    }

    @Override
    void testableCloseSocket() {
        connection.leave();
    }

    @Override
    void packetAdded() {
        wake();
    }

    @Override
    void onClosing() {
        wake();
    }

    @Override
    void saslCompleted() {
        wake();
    }

    @Override
    void connectionPrimed() {
    }

    @Override
    SocketAddress getRemoteSocketAddress() {
        return address;
    }

    @Override
    SocketAddress getLocalSocketAddress() {
        return null;
    }
}
