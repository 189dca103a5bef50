/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.controller.core.invariant.FoldBytes;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.directory.Published;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The directory's half of I13: the last record of each key in the placements topic agrees with the facts about that placement. One instance for
 * each partition of the facts collects their placements, one {@link TopicPlacements} for each partition of the placements topic collects its records;
 * {@link #compare} compares both. Memory: one entry per placement, including those in stores.
 */
final class PlacementCheck {
    private final int partition;
    private final Map<String, Map<Space, Map<Bytes, Placed>>> placements = new LinkedHashMap<>();
    private final Map<String, Long> lastSequences = new LinkedHashMap<>();

    /** Placements of one namespace on one tier of a location. */
    private record Space(Tier tier, String namespace) {}

    private record Placed(int page, long generation, int crc32c, long incarnation, long offset) {
        boolean agreesWith(Placement p) {
            return page == p.page() && generation == p.generation() && crc32c == p.crc32c() && incarnation == p.holderIncarnation();
        }
    }

    private record Last(long offset, long timestampMs, Placement placement) {}

    PlacementCheck(int partition) {
        this.partition = partition;
    }

    private Map<Bytes, Placed> placed(String location, Tier tier, String namespace) {
        return placements.computeIfAbsent(location, l -> new LinkedHashMap<>())
                .computeIfAbsent(new Space(tier, namespace), s -> new LinkedHashMap<>());
    }

    /** Applies one fact, at {@code offset} of its partition. */
    void fact(long offset, Fact decision) {
        String location = decision.envelope().aggregate();
        switch (decision) {
            case BlocksPlaced f -> {
                lastSequences.put(location, f.envelope().sequence());
                long incarnation = f.envelope().incarnation();
                Map<Bytes, Placed> here = placed(location, f.tier(), f.namespace());
                for (PagedBlock b : f.blocks()) {
                    here.put(b.block().key(), new Placed(b.page(), b.generation(), b.crc32c(), incarnation, offset));
                }
            }
            case BlocksRemoved f -> {
                Map<Bytes, Placed> here = placed(location, f.tier(), f.namespace());
                for (Block b : f.blocks()) {
                    here.remove(b.key());
                }
            }
            default -> {}
        }
    }

    /** Writes what the facts so far placed, or reads it. */
    void state(FoldBytes io) {
        io.map(lastSequences, io::text, number -> io.int64(number == null ? 0 : number));
        io.map(placements, io::text, spaces -> {
            Map<Space, Map<Bytes, Placed>> moved = spaces == null ? new LinkedHashMap<>() : spaces;
            io.map(moved, space -> space(io, space), here -> {
                Map<Bytes, Placed> placed = here == null ? new LinkedHashMap<>() : here;
                io.map(placed, io::bytes, one -> placed(io, one));
                return placed;
            });
            return moved;
        });
    }

    private static Space space(FoldBytes io, @Nullable Space known) {
        return new Space(io.symbol(Tier.class, known == null ? null : known.tier), io.text(known == null ? null : known.namespace));
    }

    private static Placed placed(FoldBytes io, @Nullable Placed known) {
        Placed one = known == null ? new Placed(0, 0, 0, 0, 0) : known;
        return new Placed(io.int32(one.page), io.int64(one.generation), io.int32(one.crc32c), io.int64(one.incarnation), io.int64(one.offset));
    }

    /** The last record of each key in one partition of the placements topic. */
    static final class TopicPlacements {
        private final String topic;
        private final int partition;
        private final PartitionAudit.Listener listener;
        private final Optional<RecordSigning> signing;
        private final Map<Bytes, Last> last = new HashMap<>();

        TopicPlacements(String topic, int partition, PartitionAudit.Listener listener, Optional<RecordSigning> signing) {
            this.topic = topic;
            this.partition = partition;
            this.listener = listener;
            this.signing = signing;
        }

        /** Reads all of it. */
        TopicPlacements read(LogSource source, Codec codec) {
            RecordReader<Published> reader = codec.reader(Published.class);
            try (LogSource.Stream stream = source.open(topic, partition)) {
                for (List<LogEntry> entries = stream.next(); !entries.isEmpty(); entries = stream.next()) {
                    for (LogEntry entry : entries) {
                        if (entry instanceof LogEntry.Data data) {
                            take(reader, data);
                        }
                    }
                }
            }
            return this;
        }

        private void take(RecordReader<Published> reader, LogEntry.Data data) {
            byte[] key = data.key();
            byte[] value = data.value();
            listener.read(1, value == null ? 0 : value.length);
            String forged = signing.isEmpty() ? null : signing.get().check(topic, partition, key, value, data.headers());
            if (forged != null) {
                report(Finding.CODE, data.offset(), data.timestampMs(), forged);
            }
            if (key == null) {
                report(Finding.BYTES, data.offset(), data.timestampMs(), "it has no key");
            } else if (value == null) {
                last.remove(Bytes.wrapUnshared(key));
            } else {
                switch (reader.read(value)) {
                    case Reading.Decoded<Published>(Placement placement) ->
                        last.put(Bytes.wrapUnshared(key), new Last(data.offset(), data.timestampMs(), placement));
                    // Not about a single placement: the cleanup of fenced rows publishes each removal.
                    case Reading.Decoded<Published>(NodeEpoch _) -> {}
                    case Reading.Unreadable<Published> bad -> report(Finding.BYTES, data.offset(), data.timestampMs(), bad.detail());
                }
            }
        }

        private void report(String check, long offset, long timestampMs, String detail) {
            listener.found(new Finding(check, topic, partition, offset, timestampMs, offset, detail));
        }

        private void report(Last one, String detail) {
            report("I13", one.offset, one.timestampMs, detail);
        }
    }

    /**
     * Reports the differences.
     *
     * @param checks one for each partition of the facts
     * @param topic one for each partition of the placements topic
     * @param moved whether facts may have been appended since they were read: then only differences that these cannot explain are reported
     */
    static void compare(List<PlacementCheck> checks, List<TopicPlacements> topic, boolean moved) {
        for (TopicPlacements partition : topic) {
            partition.last.forEach((key, one) -> {
                if (!key.equals(keyOf(one.placement))) {
                    partition.report(one, "its key is not that of its placement");
                }
                check(partition, one, checks, moved);
            });
        }
    }

    private static void check(TopicPlacements topic, Last one, List<PlacementCheck> checks, boolean moved) {
        Placement p = one.placement;
        @Nullable Placed fact = null;
        boolean newer = false;
        for (PlacementCheck check : checks) {
            Map<Space, Map<Bytes, Placed>> spaces = check.placements.get(p.location());
            if (spaces != null) {
                newer |= moved && p.envelope().sequence() > check.lastSequences.getOrDefault(p.location(), 0L);
                Map<Bytes, Placed> here = spaces.get(new Space(p.tier(), p.namespace()));
                fact = here == null ? fact : here.remove(p.block().key());
            }
        }
        if (newer || (moved && fact == null)) {
            return;
        }
        if (fact == null || !fact.agreesWith(p)) {
            topic.report(one, "block " + p.block().key() + " serves on " + p.tier() + " of " + p.location() + " in page " + p.page() + ", generation "
                    + p.generation() + ", but by the facts "
                    + (fact == null ? "it does not" : "in page " + fact.page + ", generation " + fact.generation));
        }
    }

    /** After {@link #compare}: reports placements of this partition's facts that the placements topic lacks. */
    void reportMissing(String decisions, String placements, PartitionAudit.Listener listener) {
        this.placements.forEach((location, spaces) -> spaces.forEach((space, blocks) -> blocks.forEach((key, fact) ->
                listener.found(new Finding("I13", decisions, partition, fact.offset, 0, fact.offset, "block " + key + " serves on " + space.tier
                        + " of " + location + ", but not in " + placements)))));
    }

    /** The key of a placement's record. */
    private static Bytes keyOf(Placement p) {
        return new PlacementFeed.Publication(Namespaces.digest(p.namespace()), p.block().key(), p.location() + "/" + p.tier(), null).key();
    }
}
