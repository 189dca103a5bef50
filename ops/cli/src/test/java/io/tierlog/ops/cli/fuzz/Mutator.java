/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Changes valid bytes: a few changes at a time, of the kinds that break decoders. For one thread. */
final class Mutator {
    private static final int LONGEST = 1 << 16;
    private static final byte[] EDGES = {0, 1, 2, 0x7f, (byte) 0x80, (byte) 0xfe, (byte) 0xff};
    private static final List<String> WORDS = List.of("-1", "9223372036854775808", "99999999999999999999999999", "1e400", "null", "true", "\"",
            "\\u0000", "\\ud800", "&a", "*a", "<<:", "!!int", "---\n", "\n", "\u2028", "..", "/", "%00", "{", "}", "[", "]", ":", ",");

    private final Random random;
    private final MessageMutator messages;

    Mutator(Random random) {
        this.random = random;
        messages = new MessageMutator(random);
    }

    /** One of the target's inputs, changed. */
    byte[] next(FuzzTarget target) {
        return switch (target.form()) {
            case BYTES -> next(target.corpus());
            case MESSAGES -> random.nextInt(4) == 0 ? next(target.corpus()) : nextMessage(target.corpus());
        };
    }

    private byte[] nextMessage(List<byte[]> corpus) {
        byte[] message = pick(corpus);
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            message = messages.change(message, pick(corpus));
        }
        return message;
    }

    private byte[] next(List<byte[]> corpus) {
        byte[] bytes = pick(corpus).clone();
        for (int changes = 1 + random.nextInt(5); changes > 0; changes--) {
            bytes = change(bytes, pick(corpus));
        }
        return bytes.length > LONGEST ? Arrays.copyOf(bytes, LONGEST) : bytes;
    }

    private byte[] pick(List<byte[]> corpus) {
        return corpus.get(random.nextInt(corpus.size()));
    }

    private byte[] change(byte[] bytes, byte[] other) {
        int at = random.nextInt(bytes.length + 1);
        int some = random.nextInt(Math.min(64, bytes.length - at) + 1);
        return switch (random.nextInt(11)) {
            case 0 -> put(bytes, at, (byte) (1 << random.nextInt(8)), true);
            case 1 -> put(bytes, at, EDGES[random.nextInt(EDGES.length)], false);
            case 2 -> put(bytes, at, (byte) random.nextInt(256), false);
            case 3 -> joined(bytes, at, new byte[0], at + some);
            case 4 -> joined(bytes, at, Arrays.copyOfRange(bytes, at, at + some), at);
            case 5 -> joined(bytes, at, noise(1 + random.nextInt(16)), at);
            case 6 -> Arrays.copyOf(bytes, at);
            case 7 -> joined(bytes, at, Arrays.copyOfRange(other, Math.min(at, other.length), other.length), bytes.length);
            case 8 -> joined(bytes, at, WORDS.get(random.nextInt(WORDS.size())).getBytes(StandardCharsets.UTF_8), at + some);
            case 9 -> joined(bytes, at, edge(), Math.min(bytes.length, at + 8));
            default -> joined(bytes, at, repeated(bytes, at), at);
        };
    }

    private static byte[] put(byte[] bytes, int at, byte value, boolean flip) {
        if (at < bytes.length) {
            bytes[at] = flip ? (byte) (bytes[at] ^ value) : value;
        }
        return bytes;
    }

    private byte[] noise(int length) {
        byte[] noise = new byte[length];
        random.nextBytes(noise);
        return noise;
    }

    /** The ends of a range of numbers, in 8 bytes. */
    private byte[] edge() {
        byte[] edge = new byte[8];
        Arrays.fill(edge, EDGES[random.nextInt(EDGES.length)]);
        return edge;
    }

    /** One byte very often: nesting without an end, or a long number. */
    private byte[] repeated(byte[] bytes, int at) {
        byte[] many = new byte[1 + random.nextInt(random.nextInt(8) == 0 ? 20_000 : 200)];
        Arrays.fill(many, at < bytes.length ? bytes[at] : (byte) '[');
        return many;
    }

    private static byte[] joined(byte[] bytes, int until, byte[] middle, int from) {
        byte[] all = Arrays.copyOf(bytes, until + middle.length + bytes.length - from);
        System.arraycopy(middle, 0, all, until, middle.length);
        System.arraycopy(bytes, from, all, until + middle.length, bytes.length - from);
        return all;
    }
}
