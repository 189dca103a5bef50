/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.Event;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The topology decides what the core alone decides: byte-equal facts and commands, apart from the numbers the shell gives them. */
class TopologyParityTest {
    private final Topics topics = Topics.DEFAULT;
    private final Codec codec = new Codec(Schemas.bundled());
    private final List<PlainProducer> producers = new ArrayList<>();

    @ParameterizedTest
    @CsvSource({"DIRECT, 0", "DIRECT, 1000000", "TRANSACTIONAL, 0", "TRANSACTIONAL, 1000000"})
    void theSameScriptLeadsToTheSameFactsAndCommands(CommandDelivery delivery, long cacheBytes, @TempDir Path state)
            throws InterruptedException {
        Scenario scenario = Scenario.play();
        MockProducer<byte[], byte[]> direct = new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer());
        List<Fact> facts;
        List<Command> commands;
        try (TopologyTestDriver driver = driver(delivery, direct, state, cacheBytes)) {
            TestInputTopic<byte[], byte[]> input =
                    driver.createInputTopic(topics.events(), new ByteArraySerializer(), new ByteArraySerializer());
            for (Event event : scenario.events) {
                input.pipeInput(Partitions.key(event.envelope().aggregate()), codec.encode(topics.events(), event));
            }
            facts = output(driver, topics.decisions(), Fact.class);
            awaitHandedOver();
            commands = delivery == CommandDelivery.TRANSACTIONAL
                    ? output(driver, topics.commands(), Command.class)
                    : direct.history().stream().map(sent -> read(Command.class, sent.value())).toList();
        }
        assertEquals(scenario.facts, unstamped(facts));
        assertEquals(scenario.commands, unstampedCommands(commands));
        assertEquals(encoded(scenario.facts), encoded(unstamped(facts)));
        assertEquals(encoded(scenario.commands), encoded(unstampedCommands(commands)));
        assertChained(facts.stream().map(fact -> new Link(fact.envelope(), fact)).toList());
        assertChained(commands.stream().map(command -> new Link(command.envelope(), command)).toList());
    }

    /** The day has something of the disk in it: what is copied there, read from there, and let go there. */
    @Test
    void theDayUsesTheDisk() {
        List<Command> commands = Scenario.play().commands;

        assertTrue(commands.stream().anyMatch(c -> c instanceof CopyBlocks), "copies");
        assertTrue(commands.stream().anyMatch(c -> c instanceof PrefetchBlocks p && p.sources().contains(Tier.DISK)), "fetches");
        assertTrue(commands.stream().anyMatch(c -> c instanceof DropBlocks d && d.tier() == Tier.DISK), "drops from it");
        assertTrue(commands.stream().anyMatch(c -> c instanceof DropBlocks d && d.reliesOn() == Tier.DISK), "drops that rely on it");
    }

    @Test
    void theScriptIsWorthComparing() {
        Scenario scenario = Scenario.play();
        Set<OperationKind> kinds = scenario.facts.stream()
                .filter(OperationIssued.class::isInstance)
                .map(fact -> ((OperationIssued) fact).kind())
                .collect(Collectors.toSet());
        assertTrue(kinds.containsAll(Set.of(OperationKind.PREFETCH, OperationKind.WRITE_BACK, OperationKind.BACK_UP)), kinds.toString());
        Set<String> types = scenario.facts.stream().map(fact -> fact.schema().getName()).collect(Collectors.toSet());
        assertTrue(types.containsAll(Set.of("OperationOverdue", "NodeEnded", "InputRefused", "BlocksPlaced", "LeaseEnded")), types.toString());
        assertEquals(scenario.facts, Scenario.play().facts, "the script itself is a function of nothing");
    }

    private TopologyTestDriver driver(CommandDelivery delivery, MockProducer<byte[], byte[]> direct, Path state, long cacheBytes) {
        ControllerMetrics metrics = new ControllerMetrics();
        PlainProducer producer = plain(direct);
        EventProcessor.Parts parts = new EventProcessor.Parts(
                new Core(Limits.of(1)),
                new EventDecoder(codec.reader(Event.class), new EventDecoder.Rules(topics.events(), 1, 1 << 20, Set.of()), new Health(), metrics),
                new PartitionClock.Shared(codec, topics, producer, metrics, 1_000, new ClockEnds()),
                new ResultSender.Shared(
                        codec, topics, 1, delivery == CommandDelivery.DIRECT ? Optional.of(producer) : Optional.empty(), metrics),
                new Sampler.Shared(1, 20, metrics, new Health()),
                metrics,
                (partition, decided) -> -1,
                Duration.ofDays(1));
        ControllerConfig config = ControllerConfig.of(KafkaAccess.of("none:1"), state)
                .with()
                .streams(StreamsTuning.DEFAULTS.withRecordCacheBytes(cacheBytes))
                .build();
        Properties settings = StreamsSettings.of(config, "test");
        return new TopologyTestDriver(ControllerTopology.build(topics, parts, cacheBytes > 0, new DamagedState(state, what -> {})), settings);
    }

    private PlainProducer plain(MockProducer<byte[], byte[]> direct) {
        PlainProducer producer = new PlainProducer("test", direct);
        producers.add(producer);
        return producer;
    }

    private void awaitHandedOver() throws InterruptedException {
        for (PlainProducer producer : producers) {
            assertTrue(producer.awaitHandedOver(Duration.ofSeconds(30)));
        }
    }

    private <F extends WireRecord> List<F> output(TopologyTestDriver driver, String topic, Class<F> family) {
        return driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer()).readRecordsToList().stream()
                .map(record -> read(family, record.value()))
                .toList();
    }

    private <F extends WireRecord> F read(Class<F> family, byte[] value) {
        return switch (codec.reader(family).read(value)) {
            case Reading.Decoded<F> good -> good.value();
            case Reading.Unreadable<F> bad -> throw new AssertionError("unreadable: " + bad);
        };
    }

    private static List<Bytes> encoded(List<? extends WireRecord> records) {
        return records.stream().map(record -> Bytes.wrapUnshared(Codec.avro(record))).toList();
    }

    private static List<Fact> unstamped(List<Fact> facts) {
        return facts.stream().map(fact -> fact.withEnvelope(unstamped(fact.envelope()))).toList();
    }

    private static List<Command> unstampedCommands(List<Command> commands) {
        return commands.stream().map(command -> command.withEnvelope(unstamped(command.envelope()))).toList();
    }

    private static Envelope unstamped(Envelope e) {
        return new Envelope(e.aggregate(), e.sender(), e.incarnation(), 0, 0, e.timeMs(), e.cause(), e.traceContext(), e.taken(), e.repeats());
    }

    private record Link(Envelope envelope, WireRecord value) {}

    private static void assertChained(List<Link> links) {
        Map<String, RecordStamp> last = new HashMap<>();
        for (Link link : links) {
            String aggregate = link.envelope().aggregate();
            RecordStamp before = last.getOrDefault(aggregate, RecordStamp.NONE);
            assertTrue(before.precedes(link.envelope()), () -> "after " + before + " comes " + link.value());
            last.put(aggregate, before.after(Codec.avro(link.value())));
        }
    }
}
