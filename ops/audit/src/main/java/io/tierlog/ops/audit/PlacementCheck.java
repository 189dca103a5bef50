/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
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
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The directory's half of I13: the last record of each key in the placements topic is what the decisions say of that copy. One instance for
 * each partition of the decisions notes what they say, one {@link Told} for each partition of the topic what it says; {@link #compare} holds
 * one against the other. Memory: one entry per copy, in stores too.
 */
final class PlacementCheck {
    private final int partition;
    private final Map<String, Map<Space, Map<Bytes, Said>>> said = new HashMap<>();
    private final Map<String, Long> lastSequences = new HashMap<>();

    /** Copies of one namespace on one tier of a location. */
    private record Space(Tier tier, String namespace) {}

    private record Said(int page, long generation, int crc32c, long incarnation, long offset) {
        boolean isSaidBy(Placement p) {
            return page == p.page() && generation == p.generation() && crc32c == p.crc32c() && incarnation == p.holderIncarnation();
        }
    }

    private record Last(long offset, long timestampMs, Placement placement) {}

    PlacementCheck(int partition) {
        this.partition = partition;
    }

    private Map<Bytes, Said> copies(String location, Tier tier, String namespace) {
        return said.computeIfAbsent(location, l -> new HashMap<>()).computeIfAbsent(new Space(tier, namespace), s -> new HashMap<>());
    }

    /** Takes one decision, at {@code offset} of its partition. */
    void note(long offset, Fact decision) {
        String location = decision.envelope().aggregate();
        switch (decision) {
            case BlocksPlaced f -> {
                lastSequences.put(location, f.envelope().sequence());
                long incarnation = f.envelope().incarnation();
                Map<Bytes, Said> copies = copies(location, f.tier(), f.namespace());
                for (PagedBlock b : f.blocks()) {
                    copies.put(b.block().key(), new Said(b.page(), b.generation(), b.crc32c(), incarnation, offset));
                }
            }
            case BlocksRemoved f -> {
                Map<Bytes, Said> copies = copies(location, f.tier(), f.namespace());
                for (Block b : f.blocks()) {
                    copies.remove(b.key());
                }
            }
            default -> {}
        }
    }

    /** What one partition of the topic says: the last record of each key. */
    static final class Told {
        private final String topic;
        private final int partition;
        private final PartitionAudit.Ear ear;
        private final Map<Bytes, Last> last = new HashMap<>();

        Told(String topic, int partition, PartitionAudit.Ear ear) {
            this.topic = topic;
            this.partition = partition;
            this.ear = ear;
        }

        /** Reads all of it. */
        Told read(LogSource source, Codec codec) {
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
            ear.read(1, value == null ? 0 : value.length);
            if (key == null) {
                say(Finding.BYTES, data.offset(), data.timestampMs(), "it has no key");
            } else if (value == null) {
                last.remove(Bytes.wrapUnshared(key));
            } else {
                switch (reader.read(value)) {
                    case Reading.Decoded<Published>(Placement placement) ->
                        last.put(Bytes.wrapUnshared(key), new Last(data.offset(), data.timestampMs(), placement));
                    // Says nothing of a copy: what follows from it is said of each by the sweep.
                    case Reading.Decoded<Published>(NodeEpoch _) -> {}
                    case Reading.Unreadable<Published> bad -> say(Finding.BYTES, data.offset(), data.timestampMs(), bad.detail());
                }
            }
        }

        private void say(String check, long offset, long timestampMs, String detail) {
            ear.found(new Finding(check, topic, partition, offset, timestampMs, offset, detail));
        }

        private void say(Last one, String detail) {
            say("I13", one.offset, one.timestampMs, detail);
        }
    }

    /**
     * Says what differs.
     *
     * @param checks one for each partition of the decisions
     * @param told one for each partition of the topic
     * @param moved whether decisions were appended since they were read: then only differences that these cannot have made are said
     */
    static void compare(List<PlacementCheck> checks, List<Told> told, boolean moved) {
        for (Told partition : told) {
            partition.last.forEach((key, one) -> {
                if (!key.equals(keyOf(one.placement))) {
                    partition.say(one, "its key is not that of the copy that it is about");
                }
                check(partition, one, checks, moved);
            });
        }
    }

    private static void check(Told told, Last one, List<PlacementCheck> checks, boolean moved) {
        Placement p = one.placement;
        @Nullable Said says = null;
        boolean newer = false;
        for (PlacementCheck check : checks) {
            Map<Space, Map<Bytes, Said>> spaces = check.said.get(p.location());
            if (spaces != null) {
                newer |= moved && p.envelope().sequence() > check.lastSequences.getOrDefault(p.location(), 0L);
                Map<Bytes, Said> copies = spaces.get(new Space(p.tier(), p.namespace()));
                says = copies == null ? says : copies.remove(p.block().key());
            }
        }
        if (newer || (moved && says == null)) {
            return;
        }
        if (says == null || !says.isSaidBy(p)) {
            told.say(one, "block " + p.block().key() + " serves on " + p.tier() + " of " + p.location() + " in page " + p.page() + ", generation "
                    + p.generation() + ", and the decisions say "
                    + (says == null ? "that it does not" : "page " + says.page + ", generation " + says.generation));
        }
    }

    /** What the decisions of this partition say and the topic does not, once it was compared. */
    void sayRest(String decisions, String placements, PartitionAudit.Ear ear) {
        said.forEach((location, spaces) -> spaces.forEach((space, copies) -> copies.forEach((key, says) ->
                ear.found(new Finding("I13", decisions, partition, says.offset, 0, says.offset, "block " + key + " serves on " + space.tier + " of "
                        + location + ", and " + placements + " does not say so")))));
    }

    /** The key that the record of a placement has. */
    private static Bytes keyOf(Placement p) {
        return new PlacementFeed.Publication(Namespaces.digest(p.namespace()), p.block().key(), p.location() + "/" + p.tier(), null).key();
    }
}
