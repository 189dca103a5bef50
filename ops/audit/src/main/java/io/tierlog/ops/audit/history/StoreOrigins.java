/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.Event;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/**
 * Who brought blocks to the store that were there at a time: any node may have, and each shard of the store has a partition of its own. Three looks
 * at the log: the placements on the store, the reports that led to them, and the backups of the nodes that reported. Memory: the blocks asked for.
 * Confined to one thread.
 */
final class StoreOrigins {
    private static final String NODE = "node/";

    private final LogSource source;
    private final Topics topics;
    private final RecordReader<Event> events;
    private final RecordReader<Fact> facts;
    private final String namespace;
    private final Set<Bytes> keys;
    private final long atMs;
    private final Map<Bytes, Placed> placed = new HashMap<>();
    private final Map<Bytes, String> nodes = new HashMap<>();
    private final Map<Bytes, String> operations = new HashMap<>();

    /** The placement of a block: where its decision is, when it was appended, and the offset of the event that led to it. */
    private record Placed(int partition, long offset, long timeMs, long cause) {}

    private StoreOrigins(LogSource source, Topics topics, Codec codec, String namespace, Set<Bytes> keys, long atMs) {
        this.source = source;
        this.topics = topics;
        this.events = codec.reader(Event.class);
        this.facts = codec.reader(Fact.class);
        this.namespace = namespace;
        this.keys = keys;
        this.atMs = atMs;
    }

    /**
     * Who brought each block to the store, as text; blocks of which the log does not say it are left out.
     *
     * @param atMs the time, milliseconds since 1970: what was placed or removed later does not count
     */
    static Map<Bytes, String> read(LogSource source, Topics topics, Codec codec, String namespace, Set<Bytes> keys, long atMs) {
        return keys.isEmpty() ? Map.of() : new StoreOrigins(source, topics, codec, namespace, keys, atMs).read();
    }

    private Map<Bytes, String> read() {
        int partitions = source.partitions(topics.decisions());
        for (int p = 0; p < partitions; p++) {
            int partition = p;
            decisions(partition, (data, fact) -> placement(partition, data, fact));
        }
        new TreeSet<>(placed.values().stream().map(Placed::partition).toList()).forEach(this::reports);
        new TreeSet<>(nodes.values()).forEach(node -> decisions(Partitions.of(NODE + node, partitions), (data, fact) -> backup(node, data, fact)));
        Map<Bytes, String> texts = new HashMap<>();
        placed.forEach((key, at) -> texts.put(key, text(key, at)));
        return texts;
    }

    private void decisions(int partition, BiConsumer<LogEntry.Data, Fact> taker) {
        Moment until = new Moment.Time(atMs);
        try (RecordCursor decisions = new RecordCursor(source, topics.decisions(), partition)) {
            for (LogEntry.Data data = decisions.next(); data != null && !until.isPassed(data.timestampMs()); data = decisions.next()) {
                boolean matters = data.timestampMs() <= atMs && (facts.is(data.value(), BlocksPlaced.TYPE)
                        || facts.is(data.value(), BlocksRemoved.TYPE) || facts.is(data.value(), OperationIssued.TYPE));
                if (matters && facts.read(data.value()) instanceof Reading.Decoded<Fact>(Fact fact)) {
                    taker.accept(data, fact);
                }
            }
        }
    }

    private void placement(int partition, LogEntry.Data data, Fact fact) {
        if (fact instanceof BlocksPlaced placing && placing.tier() == Tier.STORE && placing.namespace().equals(namespace)) {
            for (PagedBlock block : placing.blocks()) {
                if (keys.contains(block.block().key())) {
                    placed.put(block.block().key(), new Placed(partition, data.offset(), data.timestampMs(), LogInvariants.causeOffset(fact)));
                }
            }
        } else if (fact instanceof BlocksRemoved removed && removed.tier() == Tier.STORE && removed.namespace().equals(namespace)) {
            removed.blocks().forEach(block -> placed.remove(block.key()));
        }
    }

    /** Reports before it were trimmed. */
    private long begin(int partition) {
        try (RecordCursor inputs = new RecordCursor(source, topics.events(), partition)) {
            return inputs.begin();
        }
    }

    /** The nodes that reported the placements of a partition. */
    private void reports(int partition) {
        long begin = begin(partition);
        TreeSet<Long> causes = new TreeSet<>(placed.values().stream().filter(at -> at.partition() == partition && at.cause() >= begin)
                .map(Placed::cause).toList());
        if (causes.isEmpty()) {
            return;
        }
        try (RecordCursor inputs = new RecordCursor(source, topics.events(), partition, causes.first())) {
            for (LogEntry.Data data = inputs.next(); data != null && data.offset() <= causes.last(); data = inputs.next()) {
                long offset = data.offset();
                if (causes.contains(offset) && events.read(data.value()) instanceof Reading.Decoded<Event>(BlocksStored stored)) {
                    placed.forEach((key, at) -> {
                        if (at.partition() == partition && at.cause() == offset) {
                            nodes.put(key, stored.node());
                        }
                    });
                }
            }
        }
    }

    /** The last backup of a block that its node began before it was placed. */
    private void backup(String node, LogEntry.Data data, Fact fact) {
        if (!(fact instanceof OperationIssued issued) || issued.kind() != OperationKind.BACK_UP || !issued.namespace().equals(namespace)
                || !issued.envelope().aggregate().equals(NODE + node)) {
            return;
        }
        for (Block block : issued.blocks()) {
            Placed at = placed.get(block.key());
            if (at != null && node.equals(nodes.get(block.key())) && data.timestampMs() <= at.timeMs()) {
                operations.put(block.key(), issued.operation());
            }
        }
    }

    private String text(Bytes key, Placed at) {
        String node = nodes.get(key);
        String operation = operations.get(key);
        String who = operation != null ? "operation " + operation : node != null ? NODE + node : "a backup";
        return who + " at " + Instant.ofEpochMilli(at.timeMs()) + " (" + at.partition() + ":" + at.offset() + ")";
    }
}
