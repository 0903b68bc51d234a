package org.apache.bookkeeper.mledger.impl;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** Nodes of the metadata and entries of cursors, read field by field: their classes have other names in every other release. */
final class Fields {
    private static final int LEDGER = 1;
    private static final int TERMINATED = 2;

    private static final int MOST = 4;
    private static final int TEN_BYTES = 10;

    private final byte[] bytes;
    private int at;

    private Fields(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Writes the ledgers, each with its entries, and the terminated position if there is one. */
    static void showList(byte[] value, ObjectNode shown) {
        Fields node = new Fields(value);
        ArrayNode ledgers = shown.putArray("ledgers");
        while (node.at < value.length) {
            int field = (int) (node.number() >> 3);
            byte[] part = new byte[(int) node.number()];
            System.arraycopy(value, node.at, part, 0, part.length);
            node.at += part.length;
            long[] numbers = new Fields(part).numbers();
            if (field == LEDGER) {
                ledgers.addArray().add(numbers[1]).add(numbers[2]);
            } else if (field == TERMINATED) {
                shown.putArray("terminated").add(numbers[1]).add(numbers[2]);
            }
        }
    }

    /** The first fields of a message that are numbers, by their numbers. */
    static long[] of(byte[] message) {
        return new Fields(message).numbers();
    }

    /** The parts of a message in a field that is no number, in their order. */
    static List<byte[]> parts(byte[] message, int field) {
        Fields fields = new Fields(message);
        List<byte[]> found = new ArrayList<>();
        while (fields.at < message.length) {
            long key = fields.number();
            long value = fields.number();
            if ((key & 7) != 0) {
                byte[] part = Arrays.copyOfRange(message, fields.at, fields.at + (int) value);
                fields.at += part.length;
                if (key >> 3 == field) {
                    found.add(part);
                }
            }
        }
        return found;
    }

    /** The numbers of a field that has several, in their order. */
    static long[] repeated(byte[] message, int field) {
        Fields fields = new Fields(message);
        LongStream.Builder found = LongStream.builder();
        while (fields.at < message.length) {
            long key = fields.number();
            long value = fields.number();
            if ((key & 7) != 0) {
                fields.at += (int) value;
            } else if (key >> 3 == field) {
                found.add(value);
            }
        }
        return found.build().toArray();
    }

    /** A message of these numbers, which are its first fields. */
    static byte[] message(long... numbers) {
        ByteBuf written = Unpooled.buffer();
        for (int field = 1; field <= numbers.length; field++) {
            written.writeByte(field << 3);
            long left = numbers[field - 1];
            for (int place = 1; place < TEN_BYTES && (left & ~0x7fL) != 0; place++) {
                written.writeByte((int) (left & 0x7f) | 0x80);
                left >>>= 7;
            }
            written.writeByte((int) left);
        }
        return ByteBufUtil.getBytes(written);
    }

    private long[] numbers() {
        long[] found = new long[MOST];
        while (at < bytes.length) {
            long key = number();
            long value = number();
            if ((key & 7) != 0) {
                at += (int) value;
            } else if (key >> 3 < found.length) {
                found[(int) (key >> 3)] = value;
            }
        }
        return found;
    }

    private long number() {
        long value = 0;
        for (int shift = 0;; shift += 7) {
            byte part = bytes[at++];
            value |= (long) (part & 0x7f) << shift;
            if (part >= 0) {
                return value;
            }
        }
    }
}
