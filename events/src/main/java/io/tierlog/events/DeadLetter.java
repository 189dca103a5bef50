/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.schemas.SkipReason;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * A record that could not be taken in, as it is put aside for people: what it was, with the place and the error in its headers. Static and without
 * state.
 *
 * <p>Brokers bound a batch as it is compressed, producers a record as it is not: what was read may be longer than what can be sent. So a letter keeps
 * at most {@value #MAX_BYTES} bytes of the key, of the value and of the headers; then {@code tierlog.cut} says how long they were.
 */
public final class DeadLetter {
    /** Most bytes that a letter keeps of each part. Three times as much is below the default largest request of a producer. */
    public static final int MAX_BYTES = 256 << 10;

    private static final int MAX_DETAIL = 4_096;

    private DeadLetter() {}

    /** Where a record was read: topic, partition from 0, offset from 0. */
    public record Place(String topic, int partition, long offset) {}

    /** A letter for the topic {@code letters}, in the partition of the place. */
    public static ProducerRecord<byte[], byte[]> of(
            String letters, Place place, byte @Nullable [] key, byte @Nullable [] value, Headers received, SkipReason reason, String detail) {
        long headerBytes = 0;
        for (Header header : received) {
            headerBytes += header.key().length() + length(header.value());
        }
        Headers headers = headerBytes <= MAX_BYTES ? new RecordHeaders(received) : new RecordHeaders();
        put(headers, "tierlog.topic", place.topic());
        put(headers, "tierlog.partition", String.valueOf(place.partition()));
        put(headers, "tierlog.offset", String.valueOf(place.offset()));
        put(headers, "tierlog.reason", reason.name());
        put(headers, "tierlog.detail", detail.length() <= MAX_DETAIL ? detail : detail.substring(0, MAX_DETAIL));
        if (Math.max(headerBytes, Math.max(length(key), length(value))) > MAX_BYTES) {
            put(headers, "tierlog.cut", "of key " + length(key) + ", value " + length(value) + ", headers " + headerBytes + " bytes");
        }
        return new ProducerRecord<>(letters, place.partition(), cut(key), cut(value), headers);
    }

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    private static byte @Nullable [] cut(byte @Nullable [] bytes) {
        return length(bytes) <= MAX_BYTES ? bytes : Arrays.copyOf(bytes, MAX_BYTES);
    }

    private static void put(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }
}
