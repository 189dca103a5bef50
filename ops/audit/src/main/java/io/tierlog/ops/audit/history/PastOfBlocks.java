/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksBackedUp;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.event.RequestSubmitted;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What the decisions before a request say about the blocks of its prompt on its node: who brought each to a tier, and how it left last. Reads the
 * placements and removals of one partition again, and of all partitions those of the store. Memory: the blocks of the prompt. Confined to one
 * thread.
 */
final class PastOfBlocks implements RequestTrace.Past {
    private final Map<Place, String> brought = new HashMap<>();
    private final Map<Bytes, String> left = new HashMap<>();
    /** Who brought blocks to the store, from any node. */
    private final Map<Bytes, String> stored = new HashMap<>();

    private record Place(Bytes key, Tier tier) {}

    private PastOfBlocks() {}

    /** Reads a partition up to the decisions on the event at {@code offset}, which submitted the request. */
    static PastOfBlocks read(LogSource source, Topics topics, Codec codec, int partition, RequestTrace.Attempt attempt, RequestSubmitted e) {
        PastOfBlocks past = new PastOfBlocks();
        Set<Bytes> keys = new HashSet<>(e.keys());
        RecordReader<Fact> facts = codec.reader(Fact.class);
        try (RecordCursor decisions = new RecordCursor(source, topics.decisions(), partition)) {
            for (LogEntry.Data data = decisions.next(); data != null; data = decisions.next()) {
                boolean matters = facts.is(data.value(), BlocksPlaced.TYPE) || facts.is(data.value(), BlocksRemoved.TYPE)
                        || facts.is(data.value(), BlocksBackedUp.TYPE) || facts.is(data.value(), NodeEnded.TYPE);
                if (matters && facts.read(data.value()) instanceof Reading.Decoded<Fact>(Fact fact)) {
                    if (LogInvariants.causeOffset(fact) >= attempt.offset()) {
                        break;
                    }
                    past.fact(fact, attempt.aggregate(), e.namespace(), keys, partition + ":" + data.offset(), data.timestampMs());
                }
            }
        }
        Set<Bytes> inStore = new HashSet<>(e.keys().subList(e.storeFrom(), Math.min(e.keys().size(), e.storeFrom() + e.storeBlocks())));
        past.stored.putAll(StoreOrigins.read(source, topics, codec, e.namespace(), inStore, attempt.timeMs()));
        return past;
    }

    private void fact(Fact fact, String aggregate, String namespace, Set<Bytes> keys, String place, long timeMs) {
        if (!fact.envelope().aggregate().equals(aggregate)) {
            return;
        }
        String at = Instant.ofEpochMilli(timeMs) + " (" + place + ")";
        switch (fact) {
            case BlocksPlaced placed when placed.namespace().equals(namespace) -> {
                String by = placed.operation() == null ? "an earlier request at " + at : "operation " + placed.operation() + " at " + at;
                for (PagedBlock block : placed.blocks()) {
                    if (keys.contains(block.block().key())) {
                        brought.put(new Place(block.block().key(), placed.tier()), by);
                    }
                }
            }
            case BlocksBackedUp backedUp when backedUp.namespace().equals(namespace) -> {
                for (Block block : backedUp.blocks()) {
                    if (keys.contains(block.key())) {
                        brought.put(new Place(block.key(), Tier.STORE), "a backup at " + at);
                    }
                }
            }
            case BlocksRemoved removed when removed.namespace().equals(namespace) -> {
                String how = "it left the " + removed.tier().name().toLowerCase(Locale.ROOT) + " at " + at + ": "
                        + removed.reason().name().toLowerCase(Locale.ROOT).replace('_', ' ');
                for (Block block : removed.blocks()) {
                    if (keys.contains(block.key())) {
                        brought.remove(new Place(block.key(), removed.tier()));
                        left.put(block.key(), how);
                    }
                }
            }
            case NodeEnded _ -> {
                for (Place lost : Set.copyOf(brought.keySet())) {
                    if (lost.tier() == Tier.DEVICE || lost.tier() == Tier.HOST) {
                        brought.remove(lost);
                        left.put(lost.key(), "the node ended at " + at);
                    }
                }
            }
            // Others neither bring nor remove blocks.
            default -> {}
        }
    }

    @Override
    public String broughtBy(Bytes key, Tier tier) {
        String here = brought.getOrDefault(new Place(key, tier), "");
        return tier == Tier.STORE ? stored.getOrDefault(key, here) : here;
    }

    @Override
    public String left(Bytes key) {
        for (Tier tier : List.of(Tier.DEVICE, Tier.HOST, Tier.DISK)) {
            if (brought.containsKey(new Place(key, tier))) {
                return "the " + tier.name().toLowerCase(Locale.ROOT) + " had it by the controller's records, and the agent did not find it";
            }
        }
        return left.getOrDefault(key, "");
    }
}
