/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.probe.PromotionRequests.Wanted;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PromotionRequested;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** What a directory puts on the log: numbered and chained for each node, under another name after a doubt. */
class LogPromotionsTest {
    private static final int PARTITIONS = 3;
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final Codec CODEC = new Codec(Schemas.bundled());

    private final MockProducer<byte[], byte[]> producer =
            new MockProducer<>(cluster(), true, null, new ByteArraySerializer(), new ByteArraySerializer());
    private final LogPromotions log = new LogPromotions(
            new LogPromotions.Log(KafkaAccess.of("nowhere:1"), TOPICS, CODEC, PARTITIONS), () -> {}, producer);

    private static Cluster cluster() {
        List<PartitionInfo> partitions = IntStream.range(0, PARTITIONS)
                .mapToObj(i -> new PartitionInfo(TOPICS.events(), i, Node.noNode(), new Node[0], new Node[0])).toList();
        return new Cluster("cluster", List.of(), partitions, Set.of(), Set.of());
    }

    private void request(String node, int block) {
        log.request(node, "model/a", List.of(new Wanted(block, PlacementLog.key(block))));
    }

    private List<PromotionRequested> asked(String node) {
        RecordReader<Event> reader = CODEC.reader(Event.class);
        return producer.history().stream()
                .map(record -> reader.read(record.value()) instanceof Reading.Decoded<Event>(PromotionRequested asked) ? asked : null)
                .filter(asked -> asked != null && asked.envelope().aggregate().equals("node/" + node)).toList();
    }

    @Test
    void eachNodeHasAChainOfItsOwn() {
        request("a", 1);
        request("b", 2);
        request("a", 3);

        List<PromotionRequested> ofA = asked("a");
        assertEquals(List.of(1L, 2L), ofA.stream().map(one -> one.envelope().sequence()).toList());
        RecordStamp first = RecordStamp.NONE.after(Codec.avro(ofA.getFirst()));
        assertTrue(first.precedes(ofA.getLast().envelope()), ofA::toString);
        assertEquals(List.of(1L), asked("b").stream().map(one -> one.envelope().sequence()).toList());
        assertEquals(List.of(3), ofA.getLast().blocks().stream().map(block -> block.index()).toList());
        producer.history().forEach(record -> assertEquals(Partitions.ofKey(record.key(), PARTITIONS), record.partition()));
    }

    /** The third may or may not be in the log: later records count from 1 under another name, for all nodes. */
    @Test
    void anUnacknowledgedRecordStartsAnotherSenderName() {
        request("a", 1);
        request("b", 2);
        producer.sendException = new KafkaException("the broker does not answer");
        assertThrows(IllegalStateException.class, () -> request("a", 3));
        producer.sendException = null;

        request("a", 4);
        request("b", 5);

        for (String node : List.of("a", "b")) {
            List<PromotionRequested> all = asked(node);
            assertEquals(List.of(1L, 1L), all.stream().map(one -> one.envelope().sequence()).toList());
            assertNotEquals(all.getFirst().envelope().sender(), all.getLast().envelope().sender());
        }
    }
}
