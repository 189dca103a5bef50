/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.sign;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The code of a record: HMAC-SHA-256 over topic, partition, key and value, which holds sender, incarnation, number and the checksum of the record
 * before. Each part goes in with its length, so that no two records have the same input. The header holds the code and then the id of the key.
 * Safe for use by several threads: each has a Mac of its own.
 */
final class RecordMac {
    /** Name of the header. */
    static final String HEADER = "tierlog.mac";

    private static final int CODE_BYTES = 32;
    private static final int ABSENT = -1;
    private static final int MAX_TOPICS = 1_000;
    private static final int MAX_MACS = 256;
    private static final Map<String, byte[]> TOPICS = new ConcurrentHashMap<>();
    private static final ThreadLocal<Work> WORK = ThreadLocal.withInitial(Work::new);

    private RecordMac() {}

    /** What one thread computes with. */
    private static final class Work {
        /** Each has its key: to initialise one costs as much as the code of a short record. */
        private final IdentityHashMap<SecretKey, Mac> macs = new IdentityHashMap<>();
        private final byte[] expected = new byte[CODE_BYTES];
        /** All of a record but its value: each call of a Mac costs more than the bytes that it brings. */
        private ByteBuffer head = ByteBuffer.allocate(512);

        Mac mac(SecretKey key) throws GeneralSecurityException {
            Mac mac = macs.get(key);
            if (mac == null) {
                if (macs.size() >= MAX_MACS) {
                    macs.clear();
                }
                mac = Mac.getInstance("HmacSHA256");
                mac.init(key);
                macs.put(key, mac);
            }
            return mac;
        }

        ByteBuffer head(int bytes) {
            if (head.capacity() < bytes) {
                head = ByteBuffer.allocate(bytes);
            }
            return head.clear();
        }
    }

    /** The place of a record, and its bytes. */
    @SuppressWarnings("ArrayRecordComponent") // For one call, never compared.
    record Signed(String topic, int partition, byte @Nullable [] key, byte @Nullable [] value) {}

    /** Puts the code into the headers, in the place of one that is there. */
    static void sign(Headers headers, SecretKey key, String id, Signed record) {
        byte[] idBytes = id.getBytes(StandardCharsets.US_ASCII);
        byte[] value = new byte[CODE_BYTES + idBytes.length];
        code(WORK.get(), key, record, value);
        System.arraycopy(idBytes, 0, value, CODE_BYTES, idBytes.length);
        headers.remove(HEADER).add(HEADER, value);
    }

    /** What a code says of a record. */
    enum Verdict {
        NO_CODE,
        /** Our file has no key of that name under the id. */
        UNKNOWN_ID,
        /** Our file has the id, and another key has made the code, or the record was changed. */
        WRONG,
        RIGHT
    }

    /** Why a record is forged, for people; null when the key {@code name} has signed it. */
    static @Nullable String check(Headers headers, RecordKeys keys, String name, Signed record) {
        return switch (verdict(headers, keys, name, record)) {
            case NO_CODE -> "it has no code";
            case UNKNOWN_ID -> "the key id '" + shown(id(headers)) + "' is not among the record keys";
            case WRONG -> "its code is not that of the key " + shown(name) + " under the id " + shown(id(headers))
                    + ": it is forged, or its writer has a file of --record-keys that does not come from ours";
            case RIGHT -> null;
        };
    }

    /** Whether the key {@code name} has signed a record. */
    static Verdict verdict(Headers headers, RecordKeys keys, String name, Signed record) {
        Header header = headers.lastHeader(HEADER);
        byte[] value = header == null ? null : header.value();
        if (value == null || value.length < CODE_BYTES) {
            return Verdict.NO_CODE;
        }
        SecretKey key = keys.find(id(headers), name);
        if (key == null) {
            return Verdict.UNKNOWN_ID;
        }
        Work work = WORK.get();
        code(work, key, record, work.expected);
        // The lengths differ by the id: compared is what comes before it, in a time that does not depend on the bytes.
        byte[] code = Arrays.copyOf(value, CODE_BYTES);
        return MessageDigest.isEqual(work.expected, code) ? Verdict.RIGHT : Verdict.WRONG;
    }

    private static String id(Headers headers) {
        byte[] value = headers.lastHeader(HEADER).value();
        return new String(value, CODE_BYTES, value.length - CODE_BYTES, StandardCharsets.US_ASCII);
    }

    /** Whether a record comes with a code, right or wrong. */
    static boolean hasCode(Headers headers) {
        return headers.lastHeader(HEADER) != null;
    }

    private static void code(Work work, SecretKey key, Signed record, byte[] to) {
        byte[] topic = topic(record.topic());
        int keyBytes = record.key() == null ? 0 : record.key().length;
        ByteBuffer head = work.head(4 * Integer.BYTES + topic.length + keyBytes);
        part(head, topic);
        head.putInt(record.partition());
        part(head, record.key());
        head.putInt(length(record.value()));
        try {
            Mac mac = work.mac(key);
            mac.update(head.flip());
            if (record.value() != null) {
                mac.update(record.value());
            }
            mac.doFinal(to, 0);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the code of a record cannot be computed", e);
        }
    }

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? ABSENT : bytes.length;
    }

    private static void part(ByteBuffer head, byte @Nullable [] bytes) {
        head.putInt(length(bytes));
        if (bytes != null) {
            head.put(bytes);
        }
    }

    private static byte[] topic(String name) {
        byte[] known = TOPICS.get(name);
        if (known == null) {
            known = name.getBytes(StandardCharsets.UTF_8);
            if (TOPICS.size() < MAX_TOPICS) {
                TOPICS.put(name, known);
            }
        }
        return known;
    }

    private static String shown(String text) {
        String printable = text.replaceAll("[^A-Za-z0-9._/-]", "?");
        return printable.length() <= 100 ? printable : printable.substring(0, 100) + "...";
    }
}
