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
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Nodes whose hosts are full, and the controller that decides about them: the real core decides, and the agents of the benchmark answer, so that
 * every event is legal. Relief runs all the time. What happens goes to a {@link Log}, in order. Confined to one thread.
 */
public final class BusyNodes {
    private final Shape shape;
    private final Log log;
    private final Core core;
    private final List<HeapTables> tables;
    private final long[] offsets;
    private final Map<String, FullHostNode> byAggregate = new LinkedHashMap<>();
    private final List<FullHostNode> nodes;
    private final RecordStamp[] clocks;
    private final Deque<Sent> sent = new ArrayDeque<>();
    private long bursts;
    private long timeMs;

    /**
     * What there is.
     *
     * @param nodes their names, spread evenly over the partitions
     * @param partitions of the log
     * @param hostBlocks capacity of each host
     * @param deviceBlocks capacity of each device
     * @param prompts numbers of requests after which the same prompts come again: so the store is bounded, however long this runs
     */
    public record Shape(List<String> nodes, int partitions, int hostBlocks, int deviceBlocks, long prompts) {
        /** So many nodes. */
        public static Shape of(int nodes, int partitions, int hostBlocks, int deviceBlocks, long prompts) {
            return new Shape(Workload.nodes(nodes, partitions), partitions, hostBlocks, deviceBlocks, prompts);
        }
    }

    /** Where it goes. */
    public interface Log {
        /** Takes an event, before it is decided; {@code burst} is the number of the batch in which its agent sent it. */
        void event(int partition, Event event, byte[] avro, long burst);

        /** Takes what the event before leads to. */
        void decided(DecideResult decided);
    }

    /** An event on its way into the log. */
    @SuppressWarnings("ArrayRecordComponent") // Taken once, never compared.
    private record Sent(int partition, Event event, byte[] avro, long burst) {}

    /** @param firstTimeMs time of the log before its first tick, milliseconds since 1970 */
    public BusyNodes(Shape shape, long firstTimeMs, Log log) {
        this.shape = shape;
        this.log = log;
        this.core = new Core(Limits.of(shape.partitions()));
        this.tables = Stream.generate(HeapTables::new).limit(shape.partitions()).toList();
        this.offsets = new long[shape.partitions()];
        this.clocks = new RecordStamp[shape.partitions()];
        this.timeMs = firstTimeMs;
        for (String node : shape.nodes()) {
            byAggregate.put(Workload.aggregate(node), new FullHostNode(node, shape, this::say));
        }
        this.nodes = List.copyOf(byAggregate.values());
    }

    /** The agents register, their engines attach, and the hosts are filled until relief begins. */
    public void fill() {
        tick();
        nodes.forEach(node -> {
            node.agent().register();
            settle();
            node.attach();
            settle();
        });
        for (long number = 0; nodes.stream().anyMatch(node -> !node.agent().hasRelieved()); number++) {
            for (FullHostNode node : nodes) {
                node.fill(number);
                settle();
            }
            second();
        }
    }

    /** The request with this number comes to that node, and runs to its end. */
    public void submit(int node, long number) {
        nodes.get(node).submit(number);
        settle();
    }

    /** A second passes: every node sends its heartbeat. */
    public void second() {
        nodes.forEach(node -> {
            bursts++;
            node.agent().heartbeat();
        });
        tick();
    }

    /** One node sends its heartbeat. */
    public void heartbeat(int node) {
        nodes.get(node).agent().heartbeat();
        settle();
    }

    /** A second passes. */
    public void tick() {
        timeMs += TimeUnit.SECONDS.toMillis(1);
        for (int partition = 0; partition < shape.partitions(); partition++) {
            RecordStamp last = clocks[partition] == null ? RecordStamp.NONE : clocks[partition];
            String clock = Partitions.clock(partition);
            Event event = new Tick(last.onto(new Envelope(clock, clock + "/bench", 0, 0, 0, timeMs, null, null, null)), timeMs);
            byte[] avro = Codec.avro(event);
            clocks[partition] = last.after(avro);
            sent.add(new Sent(partition, event, avro, ++bursts));
        }
        settle();
    }

    private int say(Event event, byte[] avro) {
        sent.add(new Sent(Partitions.of(event.envelope().aggregate(), shape.partitions()), event, avro, bursts));
        return avro.length;
    }

    /** Until nothing follows from what the agents sent. */
    private void settle() {
        bursts++;
        for (Sent next = sent.poll(); next != null; next = sent.poll()) {
            receive(next);
        }
    }

    private void receive(Sent next) {
        log.event(next.partition(), next.event(), next.avro(), next.burst());
        DecideResult decided = core.step(tables.get(next.partition()), new Input.Recorded(
                next.partition(), offsets[next.partition()]++, next.event(), RecordStamp.crc32c(next.avro())));
        for (Fact fact : decided.facts()) {
            if (fact instanceof AgentAccepted accepted) {
                node(Workload.aggregate(accepted.node())).agent().accepted(accepted.newIncarnation());
            }
        }
        log.decided(decided);
        decided.messages().forEach(this::relay);
        decided.commands().forEach(command -> {
            bursts++;
            node(command.envelope().aggregate()).agent().run(command, _ -> {});
        });
    }

    private FullHostNode node(String aggregate) {
        FullHostNode node = byAggregate.get(aggregate);
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
        sent.add(new Sent(partition, message, Codec.avro(message), ++bursts));
    }
}
