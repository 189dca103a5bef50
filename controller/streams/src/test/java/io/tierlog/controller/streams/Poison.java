/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.decision.PartitionOpened;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** A record that is not an input, and why. All are for partition 1. */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record Poison(SkipReason reason, int partition, byte[] key, byte[] value) {
    static List<Poison> all(TestLog log) {
        byte[] clock = Partitions.key("clock/1");
        byte[] tick = log.codec.encode(log.topics.events(), Script.tick(1, 1, 1_000));
        byte[] foreign = log.codec.encode(
                log.topics.events(), new PartitionOpened(new Envelope("clock/1", "x", 0, 1, 0, 0, null, null, null), 1, ""));
        return List.of(
                new Poison(SkipReason.NOT_AVRO, 1, clock, "certainly not Avro".getBytes(StandardCharsets.UTF_8)),
                new Poison(SkipReason.UNKNOWN_SCHEMA_ID, 1, clock, WireFormat.frame(4_711, Codec.avro(Script.tick(1, 1, 1_000)))),
                new Poison(SkipReason.MALFORMED, 1, clock, Arrays.copyOf(tick, tick.length - 1)),
                new Poison(SkipReason.NOT_AN_EVENT, 1, clock, foreign),
                new Poison(SkipReason.WRONG_KEY, 1, Partitions.key("clock/0"), tick),
                new Poison(SkipReason.WRONG_KEY, 1, Partitions.key("clock/0"), log.codec.encode(log.topics.events(), Script.tick(0, 1, 1_000))));
    }
}
