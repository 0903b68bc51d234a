package org.apache.pulsar.metadata.coordination.impl;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The wire between one client and the server, through a free port of the loopback interface: it can be cut, and answers can be
 * held back. Who connects while it is down waits until it is up.
 */
public final class Link implements Wire {
    /** What a frame has for the number of a request if it answers none. */
    private static final int NOTIFICATION = -1;
    private static final int BYTES = 1 << 13;

    private final ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int server;
    private final List<Socket> ends = new ArrayList<>();
    private final List<Socket> waiting = new ArrayList<>();
    /** What a request has that names the path at which requests are held: its length and its bytes; null if none are. */
    private byte[] held;
    private boolean holding;
    private boolean up = true;
    private boolean silent;
    private volatile boolean deaf;
    private volatile boolean missed;

    public Link(int server) throws IOException {
        this.server = server;
        start(() -> {
            while (true) {
                admit(door.accept());
            }
        });
    }

    /** Where it begins. It is named twice, since a client that knows one server only pauses for a second between attempts. */
    @Override
    public String address() {
        String door = "127.0.0.1:" + this.door.getLocalPort();
        return door + "," + door;
    }

    @Override
    public synchronized void cut() {
        up = false;
        for (Socket end : ends) {
            shut(end);
        }
        ends.clear();
        silent = false;
        deaf = false;
        missed = false;
        notifyAll();
    }

    @Override
    public synchronized void mend() throws IOException {
        up = true;
        for (Socket client : waiting) {
            join(client);
        }
        waiting.clear();
    }

    @Override
    public synchronized boolean isUp() {
        return up;
    }

    @Override
    public synchronized void silence() {
        silent = true;
    }

    @Override
    public void deafen() {
        deaf = true;
    }

    @Override
    public boolean hasMissed() {
        return missed;
    }

    /** From now on no request goes on that names this path, nor any after it on its connection, until they are released. */
    public synchronized void hold(String path) {
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        held = ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).array();
    }

    /** Whether a request is held. */
    public synchronized boolean isHolding() {
        return holding;
    }

    /** What was held goes on. */
    public synchronized void release() {
        held = null;
        notifyAll();
    }

    private synchronized void admit(Socket client) throws IOException {
        client.setTcpNoDelay(true);
        if (up) {
            join(client);
        } else {
            waiting.add(client);
        }
    }

    private void join(Socket client) throws IOException {
        Socket far = new Socket(InetAddress.getLoopbackAddress(), server);
        far.setTcpNoDelay(true);
        ends.add(client);
        ends.add(far);
        start(() -> ask(client, far));
        start(() -> answer(far, client));
    }

    private void ask(Socket client, Socket far) throws IOException {
        try {
            byte[] some = new byte[BYTES];
            for (int read = 0; read >= 0; read = client.getInputStream().read(some)) {
                awaitRelease(some, read);
                if (!deaf) {
                    far.getOutputStream().write(some, 0, read);
                } else {
                    missed |= read > 0;
                }
            }
        } finally {
            shut(client);
            shut(far);
        }
    }

    /** Passes what the server says, frame by frame: a length, and in all but the first the number of the request. */
    private void answer(Socket far, Socket client) throws IOException {
        try {
            var in = new DataInputStream(far.getInputStream());
            var out = client.getOutputStream();
            for (boolean first = true; true; first = false) {
                ByteBuffer frame = ByteBuffer.allocate(in.readInt() + Integer.BYTES);
                frame.putInt(frame.capacity() - Integer.BYTES);
                in.readFully(frame.array(), Integer.BYTES, frame.capacity() - Integer.BYTES);
                if (!first && frame.getInt() != NOTIFICATION) {
                    awaitVoice();
                }
                out.write(frame.array());
            }
        } finally {
            shut(far);
            shut(client);
        }
    }

    private synchronized void awaitRelease(byte[] some, int read) throws IOException {
        try {
            boolean waits = held != null && names(some, read);
            while (waits && held != null) {
                holding = true;
                wait();
            }
            holding &= !waits;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private boolean names(byte[] some, int read) {
        return IntStream.rangeClosed(0, read - held.length)
                .anyMatch(at -> Arrays.equals(some, at, at + held.length, held, 0, held.length));
    }

    private synchronized void awaitVoice() throws IOException {
        try {
            while (silent) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static void shut(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // then it is shut
        }
    }

    private interface Body {
        void run() throws IOException;
    }

    private static void start(Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (IOException e) {
                // it was cut, or one side has ended
            }
        }, "link");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public synchronized void close() throws IOException {
        door.close();
        for (Socket client : waiting) {
            shut(client);
        }
        cut();
    }
}
