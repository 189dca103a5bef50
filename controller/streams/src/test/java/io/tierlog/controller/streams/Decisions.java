/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.decision.Fact;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** All decisions of a log so far, in the order of each partition. */
final class Decisions {
    private final LogReader<Fact> reader;
    private final List<Fact> all = new ArrayList<>();

    Decisions(LogReader<Fact> reader) {
        this.reader = reader;
    }

    /** Those of one type, after having read on to the end. */
    <T extends Fact> List<T> of(Class<T> type) {
        return all().stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** All, after having read on to the end. */
    List<Fact> all() {
        reader.readToEnd(entry -> {
            switch (entry.reading()) {
                case Reading.Decoded<Fact> good -> all.add(good.value());
                case Reading.Unreadable<Fact> bad -> throw new AssertionError("an unreadable decision: " + bad);
            }
        });
        return all;
    }

    /** No gap, no repeat, no change in the count of any aggregate. */
    void assertChained() {
        Map<String, RecordStamp> last = new HashMap<>();
        for (Fact decision : all()) {
            String aggregate = decision.envelope().aggregate();
            RecordStamp before = last.getOrDefault(aggregate, RecordStamp.NONE);
            assertTrue(before.precedes(decision.envelope()), () -> "after " + before + " comes " + decision);
            last.put(aggregate, before.after(Codec.avro(decision)));
        }
    }

    /** The dead letters of a log. */
    static final class DeadLetters implements AutoCloseable {
        private final Consumer<byte[], byte[]> consumer;
        private final List<ConsumerRecord<byte[], byte[]>> letters = new ArrayList<>();

        DeadLetters(TestLog log) {
            consumer = new KafkaConsumer<>(
                    log.access.client(Map.of("isolation.level", "read_committed", "auto.offset.reset", "earliest")),
                    new ByteArrayDeserializer(),
                    new ByteArrayDeserializer());
            List<TopicPartition> partitions = new ArrayList<>();
            for (int i = 0; i < log.partitions; i++) {
                partitions.add(new TopicPartition(log.topics.deadLetters(), i));
            }
            consumer.assign(partitions);
        }

        /** Reads on and returns their number. */
        int read() {
            consumer.poll(Duration.ofMillis(50)).forEach(letters::add);
            letters.sort((a, b) -> Long.compare(offset(a), offset(b)));
            return letters.size();
        }

        /** The reasons in their headers, in the order of the records they were. */
        List<String> reasons() {
            return letters.stream().map(letter -> header(letter, "tierlog.reason")).toList();
        }

        /** The values, in the order of the records they were. */
        List<byte[]> values() {
            return letters.stream().map(ConsumerRecord::value).toList();
        }

        private static long offset(ConsumerRecord<byte[], byte[]> letter) {
            return Long.parseLong(header(letter, "tierlog.offset"));
        }

        private static String header(ConsumerRecord<byte[], byte[]> letter, String name) {
            return new String(letter.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
        }
    }
}
