/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.fuzz;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.UnknownFieldSet.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Changes fields of a protobuf message by its bytes alone, with no schema: lengths stay right, so that most of what comes out reaches the code behind
 * the parser. For one thread.
 */
final class MessageMutator {
    private static final int MOST_BYTES = 1 << 16;
    private static final int DEEPEST = 6;
    private static final int MOST_COPIES = 6_000;
    private static final int LONGEST_TEXT = 12_000;
    private static final long[] NUMBERS = {0, 1, 2, 7, 8, 64, -1, -2, Byte.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE - 1L, Integer.MIN_VALUE,
        1L << 31, 1L << 32, Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MIN_VALUE, 10_000, 4_096, 65_536};
    private static final List<String> TEXTS = List.of("", "\0", "a\nb", "../../x", "/dev/null", "%s%n", "\u00e9\u2028", "\ud83d\ude00", "{}", "*",
            " ", "-1");

    private final Random random;

    MessageMutator(Random random) {
        this.random = random;
    }

    /** The message with one change; {@code other} gives fields. Bytes that are no message stay as they are. */
    byte[] change(byte[] message, byte[] other) {
        try {
            byte[] changed = changed(UnknownFieldSet.parseFrom(message), parsed(other), 0).toByteArray();
            return changed.length > MOST_BYTES ? message : changed;
        } catch (InvalidProtocolBufferException e) {
            return message;
        }
    }

    private static UnknownFieldSet parsed(byte[] message) {
        try {
            return UnknownFieldSet.parseFrom(message);
        } catch (InvalidProtocolBufferException e) {
            return UnknownFieldSet.getDefaultInstance();
        }
    }

    private UnknownFieldSet changed(UnknownFieldSet fields, UnknownFieldSet other, int depth) throws InvalidProtocolBufferException {
        UnknownFieldSet.Builder changed = UnknownFieldSet.newBuilder().mergeFrom(fields);
        int number = picked(fields);
        if (number == 0) {
            return changed.addField(1 + random.nextInt(12), value()).build();
        }
        Field field = fields.getField(number);
        switch (random.nextInt(10)) {
            case 0 -> changed.clearField(number);
            case 1 -> changed.addField(1 + random.nextInt(12), value());
            case 2 -> changed.addField(1 + random.nextInt(12), field);
            case 3 -> changed.mergeFrom(repeated(number, field));
            case 4 -> {
                int given = picked(other);
                if (given > 0) {
                    changed.addField(given, other.getField(given));
                }
            }
            default -> changed.addField(number, one(field, other, depth));
        }
        return changed.build();
    }

    private int picked(UnknownFieldSet fields) {
        List<Integer> numbers = new ArrayList<>(fields.asMap().keySet());
        return numbers.isEmpty() ? 0 : numbers.get(random.nextInt(numbers.size()));
    }

    /** The field, some or very many times. */
    private UnknownFieldSet repeated(int number, Field field) {
        int size = Math.max(1, UnknownFieldSet.newBuilder().addField(number, field).build().getSerializedSize());
        int most = Math.min(MOST_BYTES / size, random.nextInt(4) == 0 ? MOST_COPIES : 4);
        Field.Builder many = Field.newBuilder();
        for (int copies = random.nextInt(most + 1); copies > 0; copies--) {
            many.mergeFrom(field);
        }
        return UnknownFieldSet.newBuilder().addField(number, many.build()).build();
    }

    /** The field with one of its values changed. */
    private Field one(Field field, UnknownFieldSet other, int depth) throws InvalidProtocolBufferException {
        Field.Builder changed = Field.newBuilder();
        int number = 0;
        int values = field.getVarintList().size() + field.getFixed32List().size() + field.getFixed64List().size()
                + field.getLengthDelimitedList().size();
        int picked = values == 0 ? 0 : random.nextInt(values);
        for (long value : field.getVarintList()) {
            changed.addVarint(number++ == picked ? near(value) : value);
        }
        for (int value : field.getFixed32List()) {
            changed.addFixed32(number++ == picked ? (int) near(value) : value);
        }
        for (long value : field.getFixed64List()) {
            changed.addFixed64(number++ == picked ? near(value) : value);
        }
        for (ByteString value : field.getLengthDelimitedList()) {
            changed.addLengthDelimited(number++ == picked ? near(value, other, depth) : value);
        }
        return changed.build();
    }

    private long near(long value) {
        return switch (random.nextInt(4)) {
            case 0 -> value + random.nextInt(3) - 1;
            case 1 -> value ^ 1L << random.nextInt(64);
            default -> NUMBERS[random.nextInt(NUMBERS.length)];
        };
    }

    private ByteString near(ByteString value, UnknownFieldSet other, int depth) throws InvalidProtocolBufferException {
        UnknownFieldSet inner = depth < DEEPEST ? parsed(value.toByteArray()) : UnknownFieldSet.getDefaultInstance();
        if (!inner.asMap().isEmpty() && random.nextInt(4) > 0) {
            return changed(inner, other, depth + 1).toByteString();
        }
        return switch (random.nextInt(4)) {
            case 0 -> value.substring(0, random.nextInt(value.size() + 1));
            case 1 -> value.concat(bytes());
            default -> bytes();
        };
    }

    private Field value() {
        return random.nextBoolean() ? Field.newBuilder().addVarint(near(0)).build() : Field.newBuilder().addLengthDelimited(bytes()).build();
    }

    /** Text, a key, noise, or one character very often. */
    private ByteString bytes() {
        return switch (random.nextInt(5)) {
            case 0 -> ByteString.copyFrom(TEXTS.get(random.nextInt(TEXTS.size())), StandardCharsets.UTF_8);
            case 1 -> ByteString.copyFrom(new byte[8 * (1 + random.nextInt(4))]);
            case 2 -> {
                byte[] noise = new byte[random.nextInt(40)];
                random.nextBytes(noise);
                yield ByteString.copyFrom(noise);
            }
            case 3 -> ByteString.copyFromUtf8("\u20ac".repeat(random.nextInt(LONGEST_TEXT / 3)));
            default -> {
                byte[] much = new byte[random.nextInt(LONGEST_TEXT)];
                Arrays.fill(much, (byte) 'a');
                yield ByteString.copyFrom(much);
            }
        };
    }
}
