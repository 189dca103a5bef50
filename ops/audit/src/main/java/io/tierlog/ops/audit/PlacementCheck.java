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
    /** By key of the topic, the placements of facts since an earlier audit; null when all of the topic is compared. */
    private @Nullable Map<Bytes, Touched> touched;

    /** A placement that a fact changed: the last one at {@code offset}. */
    private record Touched(String location, Space space, Bytes block, long offset) {}

    /** Placements of one namespace on one tier of a location. */
    private record Space(Tier tier, String namespace) {}

    private record Placed(int page, long generation, int crc32c, long incarnation, long offset) {
        boolean agreesWith(Placement p) {
            return page == p.page() && generation == p.generation() && crc32c == p.crc32c() && incarnation == p.holderIncarnation();
        }
    }

    /** The last record of a key; without a placement it withdraws it. */
    private record Last(long offset, long timestampMs, @Nullable Placement placement) {}

    PlacementCheck(int partition) {
        this.partition = partition;
    }

    /** From the next fact on, only what changes is compared: an earlier audit has compared the rest. */
    void onlyFromHere() {
        touched = new HashMap<>();
    }

    private void touch(String location, Space space, Bytes block, long offset) {
        if (touched != null) {
            touched.put(keyOf(space.namespace, block, location, space.tier), new Touched(location, space, block, offset));
        }
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
                    touch(location, new Space(f.tier(), f.namespace()), b.block().key(), offset);
                }
            }
            case BlocksRemoved f -> {
                Map<Bytes, Placed> here = placed(location, f.tier(), f.namespace());
                for (Block b : f.blocks()) {
                    here.remove(b.key());
                    touch(location, new Space(f.tier(), f.namespace()), b.key(), offset);
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
        private final boolean partial;
        private final Map<Bytes, Last> last = new HashMap<>();

        /** {@code partial}: an earlier audit has compared what is before. */
        TopicPlacements(String topic, int partition, PartitionAudit.Listener listener, Optional<RecordSigning> signing, boolean partial) {
            this.partial = partial;
            this.topic = topic;
            this.partition = partition;
            this.listener = listener;
            this.signing = signing;
        }

        /** Reads it, from an offset on. */
        TopicPlacements read(LogSource source, Codec codec, long from) {
            RecordReader<Published> reader = codec.reader(Published.class);
            try (LogSource.Stream stream = open(source, from)) {
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

        private LogSource.Stream open(LogSource source, long from) {
            LogSource.Stream all = source.open(topic, partition);
            // What was compacted away at its beginning was replaced by later records.
            if (from <= all.begin()) {
                return all;
            }
            all.close();
            return source.open(topic, partition, from);
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
                withdraw(Bytes.wrapUnshared(key), data);
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

        /** Of a part of the topic, the end of a placement is remembered; of all of it there is nothing to remember. */
        private void withdraw(Bytes key, LogEntry.Data data) {
            if (partial) {
                last.put(key, new Last(data.offset(), data.timestampMs(), null));
            } else {
                last.remove(key);
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
                Placement p = one.placement;
                if (p == null) {
                    return;
                }
                if (!key.equals(keyOf(p.namespace(), p.block().key(), p.location(), p.tier()))) {
                    partition.report(one, "its key is not that of its placement");
                }
                check(partition, one, p, checks, moved);
            });
        }
    }

    private static void check(TopicPlacements topic, Last one, Placement p, List<PlacementCheck> checks, boolean moved) {
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

    /** After {@link #compare}: reports what this partition's facts changed and the placements topic lacks. */
    void reportMissing(String decisions, List<TopicPlacements> topic, PartitionAudit.Listener listener) {
        if (touched != null) {
            touched.forEach((key, change) -> {
                Placed fact = placements.getOrDefault(change.location, Map.of()).getOrDefault(change.space, Map.of()).get(change.block);
                if (fact != null) {
                    missing(decisions, topic, listener, change.location, change.space, change.block, fact);
                } else if (topic.stream().noneMatch(partition -> partition.last.containsKey(key))) {
                    listener.found(new Finding("I13", decisions, partition, change.offset, 0, change.offset, "block " + change.block + " left "
                            + change.space.tier + " of " + change.location + ", and no later record of " + topic.getFirst().topic + " says so"));
                }
            });
            return;
        }
        placements.forEach((location, spaces) -> spaces.forEach((space, blocks) ->
                blocks.forEach((key, fact) -> missing(decisions, topic, listener, location, space, key, fact))));
    }

    private void missing(String decisions, List<TopicPlacements> topic, PartitionAudit.Listener listener, String location, Space space, Bytes block,
            Placed fact) {
        listener.found(new Finding("I13", decisions, partition, fact.offset, 0, fact.offset, "block " + block + " serves on " + space.tier + " of "
                + location + ", but not in " + topic.getFirst().topic));
    }

    /** The key of a placement's record. */
    private static Bytes keyOf(String namespace, Bytes block, String location, Tier tier) {
        return new PlacementFeed.Publication(Namespaces.digest(namespace), block, location + "/" + tier, null).key();
    }
}
