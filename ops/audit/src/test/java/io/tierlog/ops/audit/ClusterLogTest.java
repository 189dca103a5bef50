/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.KafkaAccess;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** A link over which the answer to a large fetch never comes in time: as fetches get smaller, the records come. */
class ClusterLogTest {
    private static final TopicPartition PLACE = new TopicPartition("x.events", 0);
    private static final long RECORDS = 4;

    private final Map<Integer, MockConsumer<byte[], byte[]>> consumers = new LinkedHashMap<>();

    /** A log of four records, of which consumers that fetch more than {@code most} bytes get the first one alone. */
    private ClusterLog log(int most, ClusterLog.Patience patience) {
        return new ClusterLog(KafkaAccess.of("127.0.0.1:1"), patience, fetchBytes -> consumer(fetchBytes, fetchBytes <= most));
    }

    private Consumer<byte[], byte[]> consumer(int fetchBytes, boolean getsAll) {
        MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");
        consumer.updateBeginningOffsets(Map.of(PLACE, 0L));
        consumer.updateEndOffsets(Map.of(PLACE, RECORDS));
        consumer.schedulePollTask(() -> {
            for (long offset = consumer.position(PLACE); offset < (getsAll ? RECORDS : consumers.size() == 1 ? 1 : 0); offset++) {
                consumer.addRecord(new ConsumerRecord<>(PLACE.topic(), 0, offset, new byte[0], ("v" + offset).getBytes(StandardCharsets.UTF_8)));
            }
        });
        consumers.put(fetchBytes, consumer);
        return consumer;
    }

    private static List<Long> offsets(LogSource log) {
        List<Long> offsets = new ArrayList<>();
        try (LogSource.Stream stream = log.open(PLACE.topic(), 0)) {
            for (List<LogEntry> some = stream.next(); !some.isEmpty(); some = stream.next()) {
                some.forEach(entry -> offsets.add(entry.offset()));
            }
        }
        return offsets;
    }

    @Test
    void fetchesGetSmallerUntilTheyArrive() {
        assertEquals(List.of(0L, 1L, 2L, 3L), offsets(log(16 << 10, new ClusterLog.Patience(1_000_000, Long.MAX_VALUE))));
        assertEquals(List.of(4 << 20, 256 << 10, 16 << 10), List.copyOf(consumers.keySet()));
        assertTrue(consumers.values().stream().allMatch(MockConsumer::closed), "all are closed");
    }

    @Test
    void aLinkThatBringsNothingIsAnError() {
        ClusterLog log = log(1, new ClusterLog.Patience(1_000_000, TimeUnit.MILLISECONDS.toNanos(20)));
        AuditException lost = assertThrows(AuditException.class, () -> offsets(log));
        assertTrue(lost.getMessage().contains("no record of [x.events-0] came from 127.0.0.1:1 for 0 s"), lost.getMessage());
        assertTrue(lost.hint().contains("the link"), lost.hint());
    }

    @Test
    void fetchesThatArriveStayLarge() {
        assertEquals(List.of(0L, 1L, 2L, 3L), offsets(log(4 << 20, ClusterLog.Patience.DEFAULT)));
        assertEquals(1, consumers.size());
    }
}
