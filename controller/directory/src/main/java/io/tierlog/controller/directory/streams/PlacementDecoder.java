/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex.BlockKey;
import io.tierlog.controller.directory.index.PlacementKey;
import io.tierlog.events.PatientReader;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.directory.Published;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the records of the placements topic. Safe for use by several threads.
 *
 * <p>A record that cannot be read is skipped and logged: if its key names a block, that block is unknown from then on. While the registry is
 * unreachable, the decoder waits for the record's schema, since unreachable is not unreadable.
 */
final class PlacementDecoder {
    /** How the keys of records about nodes begin. */
    static final byte[] NODE = "node/".getBytes(StandardCharsets.UTF_8);

    private final PatientReader<Published> reader;
    private final DirectoryHealth health;
    private final String topic;
    private final Optional<RecordSigning> signing;

    /** The content of a record. */
    sealed interface Change {
        /** A copy serves. */
        record Put(BlockKey block, BlockPlacement placed, Envelope envelope) implements Change {}

        /** A copy is gone. */
        record Removed(BlockKey block, Location location) implements Change {}

        /** An incarnation of a node began or ended. */
        record EpochChanged(NodeEpoch epoch) implements Change {}

        /** A record about this placement that cannot be read. */
        record Unreadable(BlockKey block, Location location, String why) implements Change {}

        /** A record that cannot be read, key included. */
        record Nameless(String why) implements Change {}
    }

    /**
     * @param topic the placements
     * @param signing checks who wrote a record; empty when that is off
     */
    PlacementDecoder(RecordReader<Published> reader, DirectoryHealth health, String topic, Optional<RecordSigning> signing) {
        this.reader = new PatientReader<>(reader, health);
        this.health = health;
        this.topic = topic;
        this.signing = signing;
    }

    /** What a record that no controller with our keys has written does: what it names is unknown from then on. Empty for every other record. */
    Optional<Change> forged(Record<byte[], byte[]> record, int partition) {
        return signing.map(on -> on.check(topic, partition, record.key(), record.value(), record.headers())).map(why -> {
            health.foreignRecord("partition " + partition + ": a record is forged: " + why);
            String detail = "it is forged: " + why;
            return Optional.ofNullable(record.key()).flatMap(PlacementKey::parse)
                    .<Change>map(named -> new Change.Unreadable(named.block(), named.location(), detail))
                    .orElseGet(() -> new Change.Nameless(detail));
        });
    }

    /**
     * Reads one record.
     *
     * @throws DirectoryException.Closing when the instance is closed while the registry is waited for
     */
    Change read(byte @Nullable [] key, byte @Nullable [] value) {
        Optional<PlacementKey> named = key == null ? Optional.empty() : PlacementKey.parse(key);
        if (named.isEmpty() && key != null && value != null && startsWith(key, NODE)) {
            return node(key, value);
        }
        if (named.isEmpty()) {
            return new Change.Nameless("the record's key names no copy of a block");
        }
        PlacementKey about = named.get();
        if (value == null) {
            return new Change.Removed(about.block(), about.location());
        }
        Reading<Published> reading;
        try {
            reading = patiently(value);
        } catch (UnknownTypeException e) {
            return new Change.Unreadable(about.block(), about.location(), "a later version wrote it: " + e.getMessage());
        }
        return switch (reading) {
            case Reading.Unreadable<Published>(_, String detail) -> new Change.Unreadable(about.block(), about.location(), detail);
            case Reading.Decoded<Published>(Placement placement) -> decoded(about, placement);
            case Reading.Decoded<Published>(NodeEpoch _) ->
                new Change.Unreadable(about.block(), about.location(), "its value is about a node and its key about a copy");
        };
    }

    private Change node(byte[] key, byte[] value) {
        try {
            return patiently(value) instanceof Reading.Decoded<Published>(NodeEpoch epoch)
                            && ForeignRecords.wrongSender(epoch.envelope(), new String(key, StandardCharsets.UTF_8)).isEmpty()
                    ? new Change.EpochChanged(epoch)
                    : new Change.Nameless("the record's key names a node, and its value is not of that node, or no controller wrote it");
        } catch (UnknownTypeException e) {
            return new Change.Nameless("a later version wrote it: " + e.getMessage());
        }
    }

    private static boolean startsWith(byte[] key, byte[] prefix) {
        return key.length > prefix.length && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    }

    private static Change decoded(PlacementKey about, Placement placement) {
        if (!PlacementKey.of(placement).equals(Optional.of(about))) {
            return new Change.Unreadable(about.block(), about.location(), "its value is about another copy than its key");
        }
        Optional<String> foreign = ForeignRecords.wrongSender(placement.envelope(), placement.location());
        return foreign.isPresent() ? new Change.Unreadable(about.block(), about.location(), foreign.get())
                : new Change.Put(about.block(), new BlockPlacement(
                        about.location(), placement.holderIncarnation(), placement.block().index(), placement.generation()), placement.envelope());
    }

    private Reading<Published> patiently(byte[] value) {
        return reader.read(value).orElseThrow(DirectoryException.Closing::new);
    }

    /** Ends every wait. */
    void close() {
        reader.close();
    }
}
