package org.apache.bookkeeper.proto;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.bookkeeper.bookie.Bookie;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.stats.NullStatsLogger;

/**
 * The way of requests to a bookie and of its answers back, without a network: BookieRequestProcessor and what it starts for each,
 * in version 2 of the protocol, which is the one that Pulsar speaks. Each client has a connection of its own.
 */
public final class Requests implements AutoCloseable {
    private static final int SECONDS = 20;
    private static final int BYTES_OF_AN_ANSWER = 4 + 4 + 4 + 8 + 8;

    /** An answer: to which entry of which ledger, and with which code. */
    public static final class Answer {
        public final long ledger;
        public final long entry;
        public final int code;

        Answer(long ledger, long entry, int code) {
            this.ledger = ledger;
            this.entry = entry;
            this.code = code;
        }
    }

    private final BookieRequestProcessor processor;
    private final OrderedExecutor fencing;
    private final ServerConfiguration conf;
    private final DefaultChannelGroup channels = new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE);
    private final Connection writer;
    private final Connection recovery;
    private final Connection reader;
    /** The connections of the writer's adds that are handled in threads of their own. */
    private final List<Connection> apart = new ArrayList<>();

    public Requests(ServerConfiguration conf, Bookie bookie) throws Exception {
        this.conf = conf;
        processor = new BookieRequestProcessor(conf, bookie, NullStatsLogger.INSTANCE, null, UnpooledByteBufAllocator.DEFAULT,
                channels);
        Field pool = BookieRequestProcessor.class.getDeclaredField("highPriorityThreadPool");
        pool.setAccessible(true);
        fencing = (OrderedExecutor) pool.get(processor);
        writer = connection();
        recovery = connection();
        reader = connection();
    }

    private Connection connection() {
        return new Connection(new BookieRequestHandler(conf, processor, channels));
    }

    /** A client's connection, and the answers that have come back on it. */
    private static final class Connection extends ChannelOutboundHandlerAdapter {
        private final EmbeddedChannel channel;
        private final List<Answer> answers = new ArrayList<>();

        Connection(BookieRequestHandler handler) {
            channel = new EmbeddedChannel(this, handler);
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            synchronized (answers) {
                if (message instanceof ByteBuf) {
                    ByteBuf bytes = (ByteBuf) message;
                    for (; bytes.readableBytes() >= BYTES_OF_AN_ANSWER; ) {
                        bytes.skipBytes(8);
                        int code = bytes.readInt();
                        answers.add(new Answer(bytes.readLong(), bytes.readLong(), code));
                    }
                } else {
                    BookieProtocol.Response response = (BookieProtocol.Response) message;
                    answers.add(new Answer(response.getLedgerId(), response.getEntryId(), response.getErrorCode()));
                }
            }
            ReferenceCountUtil.release(message);
            if (!promise.isVoid()) {
                promise.trySuccess();
            }
        }

        /** The answers that are there; they stay. */
        List<Answer> answers() {
            synchronized (answers) {
                return new ArrayList<>(answers);
            }
        }

        /** Takes the first answer about an entry; null if there is none. */
        Answer take(long ledger, long entry) {
            synchronized (answers) {
                for (Answer answer : answers) {
                    if (answer.ledger == ledger && answer.entry == entry) {
                        answers.remove(answer);
                        return answer;
                    }
                }
            }
            return null;
        }

        void forget() {
            synchronized (answers) {
                answers.clear();
            }
        }
    }

    /** The connections on which answers to the adds of a recovery, or to those of the writer, come back. */
    private List<Connection> of(boolean recovers) {
        if (recovers) {
            return List.of(recovery);
        }
        List<Connection> all = new ArrayList<>(apart);
        all.add(writer);
        return all;
    }

    /** An add arrives, of the writer or of a recovery. */
    public void add(boolean recovers, long ledger, long entry, byte[] key, ByteBuf body) {
        add(recovers ? recovery : writer, recovers, ledger, entry, key, body);
    }

    /** An add arrives by a connection of its own; what it returns handles the add. */
    public Runnable addApart(boolean recovers, long ledger, long entry, byte[] key, ByteBuf body) {
        Connection own = connection();
        if (!recovers) {
            apart.add(own);
        }
        return () -> add(own, recovers, ledger, entry, key, body);
    }

    private static void add(Connection by, boolean recovers, long ledger, long entry, byte[] key, ByteBuf body) {
        short flags = recovers ? BookieProtocol.FLAG_RECOVERY_ADD : BookieProtocol.FLAG_NONE;
        by.channel.writeInbound(BookieProtocol.ParsedAddRequest.create(BookieProtocol.CURRENT_PROTOCOL_VERSION, ledger, entry,
                flags, key, body));
    }

    /** Takes the answer to an add; null if it has not come. */
    public Answer added(boolean recovers, long ledger, long entry) {
        for (Connection each : of(recovers)) {
            Answer answer = each.take(ledger, entry);
            if (answer != null) {
                return answer;
            }
        }
        return null;
    }

    /** The answers to adds that nobody has taken. */
    public List<Answer> waiting(boolean recovers) {
        List<Answer> answers = new ArrayList<>();
        of(recovers).forEach(each -> answers.addAll(each.answers()));
        return answers;
    }

    /** A read arrives, fencing with a key; returns its answer, null if it does not come at once. */
    public Answer read(long ledger, long entry, byte[] key) throws Exception {
        short flags = key == null ? BookieProtocol.FLAG_NONE : BookieProtocol.FLAG_DO_FENCING;
        reader.forget();
        reader.channel.writeInbound(BookieProtocol.ReadRequest.create(BookieProtocol.CURRENT_PROTOCOL_VERSION, ledger, entry,
                flags, key));
        settle();
        return reader.take(ledger, entry);
    }

    /** Waits until what fencing reads have to do is done. */
    public void settle() throws Exception {
        settle(SECONDS);
    }

    private void settle(int seconds) throws Exception {
        for (int turn = 0; turn < 2; turn++) { // the read itself, and what it leaves for when the fence is logged
            fencing.chooseThread(0).submit(() -> { }).get(seconds, TimeUnit.SECONDS);
        }
    }

    /** A fencing read of the last add confirmed arrives; false if it is not handled within so many seconds. */
    public boolean fence(long ledger, byte[] key, int seconds) throws Exception {
        reader.forget();
        reader.channel.writeInbound(BookieProtocol.ReadRequest.create(BookieProtocol.CURRENT_PROTOCOL_VERSION, ledger,
                BookieProtocol.LAST_ADD_CONFIRMED, BookieProtocol.FLAG_DO_FENCING, key));
        try {
            settle(seconds);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** The connections are gone. */
    @Override
    public void close() {
        processor.close();
    }
}
