/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.Placement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Three blocks are placed and one of them is removed; the placements topic agrees, or does not. */
class PlacementCheckTest {
    private static final String TOPIC = Topics.DEFAULT.placements();

    private final Codec codec = new Codec(Schemas.bundled());
    private final List<Fact> decisions = List.of(
            new BlocksPlaced(envelope(1), Tier.HOST, "m", List.of(paged(0), paged(1), paged(2)), null, Tier.UNKNOWN, 1),
            new BlocksRemoved(envelope(2), Tier.HOST, "m", RemovalReason.PRESSURE, List.of(paged(2).block()), 0));

    private static Envelope envelope(long sequence) {
        return new Envelope("node/a", "controller/0", 1, sequence, 0, 0, "node/a@1", null, null);
    }

    private static PagedBlock paged(int n) {
        byte[] key = {1, 2, 3, 4, 5, 6, 7, (byte) n};
        return new PagedBlock(new Block(n, Bytes.wrapUnshared(key), Bytes.EMPTY), n, 1, 77);
    }

    /** The records that the feed publishes, each changed by {@code change}; null removes it. */
    private List<LogEntry> published(UnaryOperator<LogEntry.@Nullable Data> change) {
        List<LogEntry> entries = new ArrayList<>();
        for (Fact decision : decisions) {
            for (PlacementFeed.Publication one : PlacementFeed.of(decision)) {
                Placement placement = one.placement();
                byte[] value = placement == null ? null : codec.encode(TOPIC, placement);
                LogEntry.Data changed = change.apply(new LogEntry.Data(entries.size(), 0, one.key().toArray(), value));
                entries.add(changed == null ? new LogEntry.Passed(entries.size(), entries.size()) : changed);
            }
        }
        return entries;
    }

    private List<String> compare(List<LogEntry> entries, boolean moved) {
        return compare(entries, moved, -1, 0);
    }

    /** An earlier audit has compared the first facts, and the topic before an offset. */
    private List<String> compare(List<LogEntry> entries, boolean moved, int facts, long from) {
        List<String> found = new ArrayList<>();
        PartitionAudit.Listener listener = new PartitionAudit.Listener() {
            @Override
            public void found(Finding finding) {
                found.add(finding.check() + " " + finding.topic() + "@" + finding.offset());
            }

            @Override
            public void read(long records, long bytes) {}

            @Override
            public void fact(long offset, Fact decision) {}
        };
        PlacementCheck check = new PlacementCheck(0);
        for (int i = 0; i < decisions.size(); i++) {
            if (i == facts) {
                check.onlyFromHere();
            }
            check.fact(i, decisions.get(i));
        }
        LogSource log = new MemoryLog().with(TOPIC, entries);
        PlacementCheck.TopicPlacements topic =
                new PlacementCheck.TopicPlacements(TOPIC, 0, listener, Optional.empty(), facts >= 0).read(log, codec, from);
        PlacementCheck.compare(List.of(check), List.of(topic), moved);
        if (!moved) {
            check.reportMissing(Topics.DEFAULT.decisions(), List.of(topic), listener);
        }
        return found;
    }

    @Test
    void theFeedAgreesWithTheFacts() {
        assertEquals(List.of(), compare(published(d -> d), false));
        assertEquals(List.of(), compare(published(d -> d), true));
    }

    /** Offsets: 0 to 2 place the blocks, 3 withdraws the last. */
    @Test
    void onlyWhatChangedSinceIsCompared() {
        assertEquals(List.of(), compare(published(d -> d), false, 1, 3));
        assertEquals(List.of(), compare(published(d -> d), false, 1, 1), "what is read again agrees");
        assertEquals(List.of(), compare(published(d -> d != null && d.offset() == 0 ? null : d), false, 1, 3), "the earlier audit has reported it");
        assertEquals(List.of("I13 tierlog.decisions@1"), compare(published(d -> d != null && d.value() == null ? null : d), false, 1, 3));
        assertEquals(List.of("I13 tierlog.placements@2"), compare(published(d -> d != null && d.value() == null ? null : d), false, 1, 2));
        assertEquals(List.of("I13 tierlog.decisions@0"), compare(published(d -> d != null && d.offset() == 1 ? null : d), false, 0, 0));
        assertEquals(List.of(), compare(published(d -> d != null && d.value() == null ? null : d), true, 1, 3), "it may be on its way");
    }

    @Test
    void aMissingPlacementIsReportedAtItsFact() {
        List<LogEntry> entries = published(d -> d != null && d.offset() == 1 ? null : d);
        assertEquals(List.of("I13 tierlog.decisions@0"), compare(entries, false));
        assertEquals(List.of(), compare(entries, true), "it may have left meanwhile");
    }

    @Test
    void aMissingTombstoneIsReportedAtThePlacement() {
        assertEquals(List.of("I13 tierlog.placements@2"), compare(published(d -> d != null && d.value() == null ? null : d), false));
    }

    @Test
    void aPlacementWithAWrongPageOrKeyIsReported() {
        PagedBlock other = new PagedBlock(paged(1).block(), 9, 1, 77);
        Placement elsewhere = new Placement(envelope(1), "m", other.block(), "node/a", Tier.HOST, 1, 9, 1, 77);
        assertEquals(List.of("I13 tierlog.placements@1"), compare(published(
                d -> d != null && d.offset() == 1 ? new LogEntry.Data(1, 0, d.key(), codec.encode(TOPIC, elsewhere)) : d), false));
        assertEquals(List.of("I13 tierlog.placements@1"), compare(published(
                d -> d != null && d.offset() == 1 ? new LogEntry.Data(1, 0, new byte[] {1}, d.value()) : d), false));
    }
}
