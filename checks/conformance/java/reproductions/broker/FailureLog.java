package fencepost;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.apache.pulsar.broker.service.Producer;
import org.apache.pulsar.broker.service.ServerCnx;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.api.proto.BaseCommand;

/**
 * Times what becomes of a producer whose write fails, by the broker's own log lines and by tasks on its connection's thread.
 *
 * <p>A line says that Producer.disconnect is about to hand a task to that thread. A task handed over before it runs just before
 * it, and others look whether the connection has removed the producer (ServerCnx.safelyRemoveProducer). Another line says that
 * the topic is unfenced. A handler before the connection's own hears when the next message of the producer comes in between.
 */
final class FailureLog extends AbstractAppender {
    /** One producer that is disconnected since a write failed; times of System.nanoTime, 0 while not there. */
    private static final class Failure {
        long begun;
        long closing;
        long forgotten;
        long unfenced;
        boolean throttled;
        long read;
    }

    private final Map<String, Failure> open = new HashMap<>();
    private final List<Failure> failures = new ArrayList<>();

    FailureLog() {
        super("failures", null, null, true, Property.EMPTY_ARRAY);
        start();
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        for (Class<?> each : List.of(Producer.class, PersistentTopic.class)) {
            var logger = new LoggerConfig(each.getName(), Level.INFO, false);
            logger.addAppender(this, Level.INFO, null);
            context.getConfiguration().addLogger(each.getName(), logger);
        }
        context.updateLoggers();
    }

    @Override
    public void append(LogEvent event) {
        String format = event.getMessage().getFormat();
        Object[] parameters = event.getMessage().getParameters();
        if (format.startsWith("Disconnecting producer") && parameters[0] instanceof Producer) {
            disconnecting((Producer) parameters[0]);
        } else if (format.endsWith("Un-fencing topic...")) {
            unfenced(String.valueOf(parameters[0]));
        }
    }

    private void disconnecting(Producer producer) {
        var failure = new Failure();
        failure.begun = System.nanoTime();
        synchronized (this) {
            open.put(producer.getTopic().getName(), failure);
        }
        var connection = (ServerCnx) producer.getCnx();
        connection.execute(() -> {
            failure.closing = System.nanoTime();
            failure.throttled = !connection.ctx().channel().config().isAutoRead();
            var listening = new Listening(producer.getProducerId(), failure);
            connection.ctx().pipeline().addBefore(connection.ctx().name(), null, listening);
            awaitForgotten(connection, producer.getProducerId(), () -> {
                failure.forgotten = System.nanoTime();
                connection.ctx().pipeline().remove(listening);
            });
        });
    }

    /** A task that takes turns with those of the connection's thread until that has removed the producer. */
    private static void awaitForgotten(ServerCnx connection, long producer, Runnable then) {
        connection.execute(() -> {
            if (connection.getProducers().containsKey(producer) && connection.isActive()) {
                awaitForgotten(connection, producer, then);
            } else {
                then.run();
            }
        });
    }

    private synchronized void unfenced(String topic) {
        Failure failure = open.remove(topic);
        if (failure != null) {
            failure.unfenced = System.nanoTime();
            failures.add(failure);
        }
    }

    /** Notes when a message of a producer comes before it is removed. */
    private static final class Listening extends ChannelInboundHandlerAdapter {
        private final long producer;
        private final Failure failure;

        Listening(long producer, Failure failure) {
            this.producer = producer;
            this.failure = failure;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
            ByteBuf frame = ((ByteBuf) message).duplicate();
            int size = (int) frame.readUnsignedInt();
            var command = new BaseCommand();
            command.parseFrom(frame, size);
            if (command.hasSend() && command.getSend().getProducerId() == producer) {
                failure.read = failure.read == 0 ? System.nanoTime() : failure.read;
            }
            context.fireChannelRead(message);
        }
    }

    /** Of each failure after which the topic was unfenced, in milliseconds: the hop, and from there the others. */
    synchronized void tell(ObjectNode answer) {
        ArrayNode rows = answer.putArray("failures");
        for (Failure each : failures) {
            if (each.forgotten != 0) {
                ObjectNode row = rows.addObject();
                row.put("task", (each.closing - each.begun) / 1e6);
                row.put("forgetting", (each.forgotten - each.closing) / 1e6);
                row.put("unfencing", (each.unfenced - each.closing) / 1e6);
                row.put("throttled", each.throttled);
                row.put("is_read", each.read != 0);
                row.put("reading", ((each.read != 0 ? each.read : each.forgotten) - each.closing) / 1e6);
            }
        }
    }
}
