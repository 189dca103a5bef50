/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.control.BusyNodes;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.event.Event;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Writes what happens at busy nodes as agents and a controller would: events and commands at once, decisions and placements in transactions of
 * {@value #COMMIT_MS} ms, each record numbered and chained. One thread writes; any thread may ask how much was written.
 */
final class LoadLog implements BusyNodes.Log, AutoCloseable {
    private static final int COMMIT_MS = 100;

    private final Codec codec = new Codec(Schemas.bundled());
    private final Topics topics;
    private final int partitions;
    private final Timeline timeline;
    private final KafkaProducer<byte[], byte[]> agents;
    private final KafkaProducer<byte[], byte[]> controller;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private final Map<String, RecordStamp> decisions = new HashMap<>();
    private final Map<String, RecordStamp> commands = new HashMap<>();
    private LongSupplier clockMs = System::currentTimeMillis;
    private long committedNanos;
    private long uncommitted;
    private Written open = Written.NOTHING;
    private volatile Written visible = Written.NOTHING;

    /**
     * How many records there are that can be read.
     *
     * @param events on the topic of events
     * @param decisions committed
     * @param commands on the topic of commands
     * @param placements committed
     */
    record Written(long events, long decisions, long commands, long placements) {
        static final Written NOTHING = new Written(0, 0, 0, 0);

        /** Those that the page reads. */
        long read() {
            return events + decisions + commands;
        }

        Written minus(Written other) {
            return new Written(events - other.events, decisions - other.decisions, commands - other.commands, placements - other.placements);
        }
    }

    LoadLog(KafkaAccess access, Topics topics, int partitions, Timeline timeline) {
        this.topics = topics;
        this.partitions = partitions;
        this.timeline = timeline;
        agents = new KafkaProducer<>(
                access.producer(Map.of("acks", "all", "linger.ms", 5, "batch.size", 64 << 10)), new ByteArraySerializer(), new ByteArraySerializer());
        controller = new KafkaProducer<>(
                access.producer(Map.of("transactional.id", topics.prefix() + "-load", "linger.ms", 5, "batch.size", 64 << 10)),
                new ByteArraySerializer(), new ByteArraySerializer());
        controller.initTransactions();
    }

    /** Gives all later records the times of another clock, milliseconds since 1970. */
    void clock(LongSupplier ms) {
        clockMs = ms;
    }

    /** What can be read now. */
    Written written() {
        return visible;
    }

    /** Events so far, for the thread that writes. */
    long events() {
        return open.events();
    }

    @Override
    public void event(int partition, Event event, byte[] avro, long burst) {
        send(agents, topics.events(), partition, Partitions.key(event.envelope().aggregate()), codec.frame(topics.events(), event.schema(), avro));
        open = new Written(open.events + 1, open.decisions, open.commands, open.placements);
    }

    @Override
    public void decided(DecideResult decided) {
        decided.facts().forEach(this::fact);
        decided.commands().forEach(this::command);
        commitWhenDue();
    }

    private void command(Command blank) {
        String aggregate = blank.envelope().aggregate();
        RecordStamp last = commands.getOrDefault(aggregate, RecordStamp.NONE);
        Command command = blank.withEnvelope(last.onto(blank.envelope()));
        byte[] avro = Codec.avro(command);
        commands.put(aggregate, last.after(avro));
        send(agents, topics.commands(), Partitions.of(aggregate, partitions), Partitions.key(aggregate),
                codec.frame(topics.commands(), command.schema(), avro));
        open = new Written(open.events, open.decisions, open.commands + 1, open.placements);
    }

    private void fact(Fact blank) {
        begin();
        String aggregate = blank.envelope().aggregate();
        RecordStamp last = decisions.getOrDefault(aggregate, RecordStamp.NONE);
        Fact fact = blank.withEnvelope(last.onto(blank.envelope()));
        byte[] avro = Codec.avro(fact);
        decisions.put(aggregate, last.after(avro));
        send(controller, topics.decisions(), Partitions.of(aggregate, partitions), Partitions.key(aggregate),
                codec.frame(topics.decisions(), fact.schema(), avro));
        int placements = 0;
        for (PlacementFeed.Publication publication : PlacementFeed.of(fact)) {
            Placement placement = publication.placement();
            byte[] both = ByteBuffer.allocate(publication.namespace().size() + publication.block().size())
                    .put(publication.namespace().unshared()).put(publication.block().unshared()).array();
            send(controller, topics.placements(), Partitions.ofKey(both, partitions), publication.key().unshared(),
                    placement == null ? null : codec.encode(topics.placements(), placement));
            placements++;
        }
        open = new Written(open.events, open.decisions + 1, open.commands, open.placements + placements);
    }

    private void send(KafkaProducer<byte[], byte[]> producer, String topic, int partition, byte[] key, byte @Nullable [] value) {
        var _ = producer.send(new ProducerRecord<>(topic, partition, clockMs.getAsLong(), key, value), (_, failed) -> {
            if (failed != null) {
                failure.compareAndSet(null, failed);
            }
        });
    }

    private void begin() {
        if (uncommitted++ == 0) {
            controller.beginTransaction();
            committedNanos = System.nanoTime();
        }
    }

    /** Commits when the transaction is old enough; called again and again also when nothing happens. */
    void commitWhenDue() {
        if (uncommitted > 0 && System.nanoTime() - committedNanos >= TimeUnit.MILLISECONDS.toNanos(COMMIT_MS)) {
            commit();
        }
        visible = new Written(open.events, uncommitted > 0 ? visible.decisions : open.decisions, open.commands,
                uncommitted > 0 ? visible.placements : open.placements);
        timeline.note(System.currentTimeMillis(), visible.read());
    }

    private void commit() {
        try {
            controller.commitTransaction();
        } catch (KafkaException e) {
            throw failed(e);
        }
        uncommitted = 0;
        check();
    }

    /** Waits until everything that was written can be read. */
    void flush() {
        agents.flush();
        if (uncommitted > 0) {
            commit();
        }
        check();
        commitWhenDue();
    }

    private void check() {
        Exception failed = failure.get();
        if (failed != null) {
            throw failed(failed);
        }
    }

    private static BenchException failed(Exception cause) {
        return BenchException.failed("a record could not be written: " + cause.getMessage(), "look at the free space of the disk").causedBy(cause);
    }

    @Override
    public void close() {
        agents.close(Duration.ofSeconds(2));
        controller.close(Duration.ofSeconds(2));
    }
}
