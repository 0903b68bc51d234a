package org.apache.zookeeper.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.ClientCnxn;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;

/** A client's connection to a server that is called: what either would write on a socket, frame by frame. */
public final class CalledConnection extends ServerCnxn {
    private final ZooKeeperServer server;
    private final Runnable arrival;
    private final Queue<ByteBuffer> answers = new ConcurrentLinkedQueue<>();
    private long session;
    private int timeout;
    private boolean begun;
    private volatile boolean silent;
    private volatile boolean deaf;
    private volatile boolean missed;
    private boolean mute;
    private volatile boolean broken;

    CalledConnection(ZooKeeperServer server, Runnable arrival) {
        super(server);
        this.server = server;
        this.arrival = arrival;
    }

    /** Takes a frame of the client, without its length; what it asks for is done when this returns. */
    public void receive(ByteBuffer frame) throws IOException {
        if (broken) {
            return;
        }
        if (begun) {
            RequestHeader header = new RequestHeader();
            ByteBufferInputStream.byteBuffer2Record(frame, header);
            if (deaf) {
                missed |= header.getXid() != ClientCnxn.PING_XID;
                return;
            }
            server.processPacket(this, header, RequestRecord.fromBytes(frame.slice()));
            return;
        }
        begun = true;
        var in = BinaryInputArchive.getArchive(new ByteBufferInputStream(frame));
        try {
            server.processConnectRequest(this, protocolManager.deserializeConnectRequest(in));
        } catch (ClientCnxnLimitException e) {
            throw new IOException(e);
        }
    }

    /** The next frame for the client, without its length; null if there is none. */
    public ByteBuffer poll() {
        return answers.poll();
    }

    public boolean isBroken() {
        return broken;
    }

    /** From now on no answer passes, nor what comes after one. */
    void silence() {
        silent = true;
    }

    /** From now on no request arrives. */
    void deafen() {
        deaf = true;
    }

    /** Whether a request has not arrived. */
    boolean hasMissed() {
        return missed;
    }

    /** The client breaks it off. */
    public void leave() {
        close(DisconnectReason.CLIENT_CLOSED_CONNECTION);
    }

    @Override
    public void close(DisconnectReason reason) {
        if (!broken) {
            broken = true;
            server.removeCnxn(this);
            arrival.run();
        }
    }

    @Override
    public int sendResponse(ReplyHeader header, Record record, String tag, String cacheKey, Stat stat, int code)
            throws IOException {
        if (broken) {
            return 0;
        }
        mute |= silent && header.getXid() != ClientCnxn.NOTIFICATION_XID;
        ByteBuffer[] frame = serialize(header, record, tag, cacheKey, stat, code);
        int size = frame[0].getInt();
        frame[0].rewind();
        if (!mute) {
            sendBuffer(frame);
        }
        decrOutstandingAndCheckThrottle(header);
        return size;
    }

    @Override
    void sendBuffer(ByteBuffer... parts) {
        if (parts[0] == ServerCnxnFactory.closeConn) {
            close(DisconnectReason.CLIENT_CLOSED_CONNECTION);
            return;
        }
        int size = 0;
        for (ByteBuffer part : parts) {
            size += part.remaining();
        }
        ByteBuffer whole = ByteBuffer.allocate(size);
        for (ByteBuffer part : parts) {
            whole.put(part);
        }
        whole.flip();
        whole.getInt();
        answers.add(whole.slice());
        arrival.run();
    }

    @Override
    public void sendCloseSession() {
        sendBuffer(ServerCnxnFactory.closeConn);
    }

    @Override
    public void process(WatchedEvent event, List<ACL> nodes) {
        // the owner of every right asks, so no list of rights keeps an event from it
        try {
            sendResponse(new ReplyHeader(ClientCnxn.NOTIFICATION_XID, event.getZxid(), 0), event.getWrapper(), "notification",
                    null, null, -1);
        } catch (IOException e) {
            close(DisconnectReason.IO_EXCEPTION);
        }
    }

    @Override
    public long getSessionId() {
        return session;
    }

    @Override
    void setSessionId(long session) {
        this.session = session;
    }

    @Override
    public int getSessionTimeout() {
        return timeout;
    }

    @Override
    void setSessionTimeout(int timeout) {
        this.timeout = timeout;
    }

    @Override
    void enableRecv() {
    }

    @Override
    void disableRecv(boolean waits) {
    }

    @Override
    protected ServerStats serverStats() {
        return server.serverStats();
    }

    @Override
    public InetSocketAddress getRemoteSocketAddress() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    @Override
    public int getInterestOps() {
        return 0;
    }

    @Override
    public boolean isSecure() {
        return false;
    }

    @Override
    public Certificate[] getClientCertificateChain() {
        return new Certificate[0];
    }

    @Override
    public void setClientCertificateChain(Certificate[] chain) {
        throw new UnsupportedOperationException();
    }
}
