/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.Namespaces;
import io.tierlog.controller.core.PlacementFeed;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Decision;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.directory.Published;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The directory's half of I13: the last record of each key in the placements topic is what the decisions say of that copy. One instance for
 * each partition of the decisions notes what they say; {@link #compare} then reads the whole topic. Memory: one entry per copy, in stores too.
 */
final class PlacementCheck {
    private final int partition;
    private final Map<Key, Said> said = new HashMap<>();
    private final Map<String, Long> lastSequences = new HashMap<>();

    private record Key(String namespace, Bytes block, String location, Tier tier) {}

    private record Said(int page, long generation, int crc32c, long incarnation, long offset) {
        boolean isSaidBy(Placement p) {
            return page == p.page() && generation == p.generation() && crc32c == p.crc32c() && incarnation == p.holderIncarnation();
        }
    }

    private record Told(int partition, long offset, long timestampMs, Placement placement) {
        Finding finding(String topic, String detail) {
            return new Finding("I13", topic, partition, offset, timestampMs, offset, detail);
        }
    }

    PlacementCheck(int partition) {
        this.partition = partition;
    }

    /** Takes one decision, at {@code offset} of its partition. */
    void note(long offset, Decision decision) {
        String location = decision.envelope().aggregate();
        switch (decision) {
            case BlocksPlaced f -> {
                lastSequences.put(location, f.envelope().sequence());
                for (PagedBlock b : f.blocks()) {
                    said.put(new Key(f.namespace(), b.block().key(), location, f.tier()),
                            new Said(b.page(), b.generation(), b.crc32c(), f.envelope().incarnation(), offset));
                }
            }
            case BlocksRemoved f -> {
                for (Block b : f.blocks()) {
                    said.remove(new Key(f.namespace(), b.key(), location, f.tier()));
                }
            }
            default -> {}
        }
    }

    /**
     * Reads the topic and says what differs.
     *
     * @param topics the topic of the placements, then that of the decisions
     * @param checks one for each partition of the decisions
     * @param moved whether decisions were appended since they were read: then only differences that these cannot have made are said
     */
    static void compare(LogSource source, Codec codec, List<String> topics, List<PlacementCheck> checks, boolean moved, Consumer<Finding> ear) {
        Map<Bytes, Told> told = read(source, codec, topics.getFirst(), ear);
        told.forEach((key, one) -> {
            if (!key.equals(keyOf(one.placement))) {
                ear.accept(one.finding(topics.getFirst(), "its key is not that of the copy that it is about"));
            }
            check(one, topics.getFirst(), checks, moved, ear);
        });
        if (moved) {
            return;
        }
        for (PlacementCheck check : checks) {
            check.said.forEach((key, says) -> ear.accept(new Finding("I13", topics.getLast(), check.partition, says.offset, 0, says.offset,
                    "block " + key.block + " serves on " + key.tier + " of " + key.location + ", and " + topics.getFirst() + " does not say so")));
        }
    }

    private static Map<Bytes, Told> read(LogSource source, Codec codec, String topic, Consumer<Finding> ear) {
        RecordReader<Published> reader = codec.reader(Published.class);
        Map<Bytes, Told> told = new LinkedHashMap<>();
        int partitions = source.partitions(topic);
        for (int p = 0; p < partitions; p++) {
            try (LogSource.Stream stream = source.open(topic, p)) {
                for (List<LogEntry> entries = stream.next(); !entries.isEmpty(); entries = stream.next()) {
                    for (LogEntry entry : entries) {
                        if (entry instanceof LogEntry.Data data) {
                            take(told, reader, topic, p, data, ear);
                        }
                    }
                }
            }
        }
        return told;
    }

    private static void take(Map<Bytes, Told> told, RecordReader<Published> reader, String topic, int p, LogEntry.Data data, Consumer<Finding> ear) {
        byte[] key = data.key();
        byte[] value = data.value();
        if (key == null) {
            ear.accept(new Finding(Finding.BYTES, topic, p, data.offset(), data.timestampMs(), data.offset(), "it has no key"));
        } else if (value == null) {
            told.remove(Bytes.wrapUnshared(key));
        } else {
            switch (reader.read(value)) {
                case Reading.Decoded<Published>(Placement placement) ->
                    told.put(Bytes.wrapUnshared(key), new Told(p, data.offset(), data.timestampMs(), placement));
                case Reading.Unreadable<Published> bad ->
                    ear.accept(new Finding(Finding.BYTES, topic, p, data.offset(), data.timestampMs(), data.offset(), bad.detail()));
            }
        }
    }

    private static void check(Told one, String topic, List<PlacementCheck> checks, boolean moved, Consumer<Finding> ear) {
        Placement p = one.placement;
        Key key = new Key(p.namespace(), p.block().key(), p.location(), p.tier());
        @Nullable Said says = null;
        boolean newer = false;
        for (PlacementCheck check : checks) {
            newer |= moved && p.envelope().sequence() > check.lastSequences.getOrDefault(p.location(), Long.MAX_VALUE);
            says = says == null ? check.said.remove(key) : says;
        }
        if (newer || (moved && says == null)) {
            return;
        }
        if (says == null || !says.isSaidBy(p)) {
            ear.accept(one.finding(topic, "block " + p.block().key()
                    + " serves on " + p.tier() + " of " + p.location() + " in page " + p.page() + ", generation " + p.generation()
                    + ", and the decisions say " + (says == null ? "that it does not" : "page " + says.page + ", generation " + says.generation)));
        }
    }

    /** The key that the record of a placement has. */
    static Bytes keyOf(Placement p) {
        return new PlacementFeed.Publication(Namespaces.digest(p.namespace()), p.block().key(), p.location() + "/" + p.tier(), null).key();
    }
}
