/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outgoing;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Makes the log of nodes whose hosts are full: the real core decides, and the agents of the benchmark answer, so that every event is legal. Relief
 * runs all the time. Confined to one thread, used once.
 */
final class FullHost {
    private static final int REQUESTS_A_SECOND = 48;

    private final Codec codec;
    private final Shape shape;
    private final Core core;
    private final List<HeapTables> tables;
    private final long[] offsets;
    private final Map<String, FullHostNode> nodes = new LinkedHashMap<>();
    private final RecordStamp[] clocks;
    private final Deque<Said> said = new ArrayDeque<>();
    private final List<RecordedLog.Entry> records = new ArrayList<>();
    private final Map<String, Long> decisions = new TreeMap<>();
    private MixCount mix = new MixCount();
    private long bursts;
    private long timeMs;

    /**
     * What is made.
     *
     * @param topic whose frames the records get
     * @param nodes spread evenly over the partitions
     * @param partitions of the log
     * @param hostBlocks capacity of each host
     */
    record Shape(String topic, List<String> nodes, int partitions, int hostBlocks) {}

    /** An event on its way into the log. */
    @SuppressWarnings("ArrayRecordComponent") // Recorded once, never compared.
    private record Said(int partition, Event event, byte[] avro, long burst) {}

    FullHost(Codec codec, Shape shape, long firstTimeMs) {
        this.codec = codec;
        this.shape = shape;
        this.core = new Core(Limits.of(shape.partitions()));
        this.tables = Stream.generate(HeapTables::new).limit(shape.partitions()).toList();
        this.offsets = new long[shape.partitions()];
        this.clocks = new RecordStamp[shape.partitions()];
        this.timeMs = firstTimeMs;
        for (String node : shape.nodes()) {
            nodes.put(Workload.aggregate(node), new FullHostNode(node, shape.hostBlocks(), this::say));
        }
    }

    /** The hosts are filled, which is the warm-up; then come so many requests. */
    RecordedLog record(int requests) {
        tick();
        nodes.values().forEach(node -> {
            node.agent().register();
            settle();
            node.attach();
            settle();
        });
        for (long number = 0; nodes.values().stream().anyMatch(node -> !node.agent().hasRelieved()); number++) {
            for (FullHostNode node : nodes.values()) {
                node.fill(number);
                settle();
            }
            second();
        }
        int warmUp = records.size();
        mix = new MixCount();
        List<FullHostNode> turn = List.copyOf(nodes.values());
        for (int number = 0; number < requests; number++) {
            turn.get(number % turn.size()).submit(number);
            settle();
            if (number % REQUESTS_A_SECOND == 0) {
                second();
            }
        }
        return new RecordedLog(shape.partitions(), records, warmUp, mix.mix(), decisions);
    }

    /** A second passes: every node sends its heartbeat. */
    private void second() {
        nodes.values().forEach(node -> {
            bursts++;
            node.agent().heartbeat();
        });
        tick();
    }

    private void tick() {
        timeMs += TimeUnit.SECONDS.toMillis(1);
        for (int partition = 0; partition < shape.partitions(); partition++) {
            RecordStamp last = clocks[partition] == null ? RecordStamp.NONE : clocks[partition];
            String clock = Partitions.clock(partition);
            Event event = new Tick(last.onto(new Envelope(clock, clock + "/bench", 0, 0, 0, timeMs, null, null, null)), timeMs);
            byte[] avro = Codec.avro(event);
            clocks[partition] = last.after(avro);
            said.add(new Said(partition, event, avro, ++bursts));
        }
        settle();
    }

    private int say(Event event, byte[] avro) {
        said.add(new Said(Partitions.of(event.envelope().aggregate(), shape.partitions()), event, avro, bursts));
        return avro.length;
    }

    /** Until nothing follows from what the agents sent. */
    private void settle() {
        bursts++;
        for (Said next = said.poll(); next != null; next = said.poll()) {
            hear(next);
        }
    }

    private void hear(Said next) {
        Event event = next.event();
        byte[] value = codec.frame(shape.topic(), event.schema(), next.avro());
        records.add(new RecordedLog.Entry(next.partition(), Partitions.key(event.envelope().aggregate()), value, next.burst()));
        mix.add(event);
        DecideResult decided = core.step(tables.get(next.partition()), new Input.Recorded(
                next.partition(), offsets[next.partition()]++, event, RecordStamp.crc32c(next.avro())));
        for (Fact fact : decided.facts()) {
            decisions.merge(fact.schema().getName(), 1L, Long::sum);
            if (fact instanceof AgentAccepted accepted) {
                node(Workload.aggregate(accepted.node())).agent().accepted(accepted.newIncarnation());
            }
        }
        decided.messages().forEach(this::relay);
        decided.commands().forEach(command -> {
            bursts++;
            node(command.envelope().aggregate()).agent().run(command, _ -> {});
        });
    }

    private FullHostNode node(String aggregate) {
        FullHostNode node = nodes.get(aggregate);
        if (node == null) {
            throw new IllegalStateException("a record for " + aggregate + ", which is no node of this log");
        }
        return node;
    }

    private void relay(Outgoing outgoing) {
        Event message = outgoing.message();
        int partition = outgoing.partition() == Outgoing.BY_NAME
                ? Partitions.of(message.envelope().aggregate(), shape.partitions())
                : outgoing.partition();
        said.add(new Said(partition, message, Codec.avro(message), ++bursts));
    }
}
