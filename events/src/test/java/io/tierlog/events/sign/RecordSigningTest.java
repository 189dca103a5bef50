/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.sign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.PeerReadCancelled;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.event.Tick;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is signed, and each way of forging it. */
class RecordSigningTest {
    private static final Codec CODEC = new Codec(Schemas.bundled());
    private static final Topics TOPICS = Topics.DEFAULT;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path dir;

    @SuppressWarnings("NullAway.Init") // JUnit calls keys() first.
    private RecordSigning all;

    @SuppressWarnings("NullAway.Init") // JUnit calls keys() first.
    private RecordSigning n1;

    @BeforeEach
    void keys() throws Exception {
        RecordKeys master = keys(List.of("b " + "02".repeat(32), "a " + "01".repeat(32)));
        all = new RecordSigning(master, TOPICS, RecordSigning.Mode.REQUIRE);
        n1 = new RecordSigning(keys(master.derivedLines(KeyNames.ofNode("n1"))), TOPICS, RecordSigning.Mode.REQUIRE);
    }

    private RecordKeys keys(List<String> lines) throws Exception {
        Path file = Files.createTempFile(dir, "keys", "", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return RecordKeys.read(Files.write(file, lines));
    }

    private static Envelope from(String sender, String aggregate) {
        return new Envelope(aggregate, sender, 1, 7, 42, 1_000, null, null, null);
    }

    private static Event about(String sender, String aggregate) {
        return new PromotionRequested(from(sender, aggregate), "p", "ns", List.of());
    }

    /** The record as a producer of that writer sends it. */
    private static ProducerRecord<byte[], byte[]> sent(RecordSigning signing, RecordSigner.Writer writer, Event event) {
        RecordSigner signer = new RecordSigner();
        signer.configure(Map.of(RecordSigner.SIGNING, signing, RecordSigner.WRITER, writer));
        String aggregate = event.envelope().aggregate();
        return signer.onSend(new ProducerRecord<>(TOPICS.events(), 3, Partitions.key(aggregate), CODEC.encode(TOPICS.events(), event)));
    }

    private static @Nullable String check(RecordSigning signing, Event event, ProducerRecord<byte[], byte[]> record) {
        return signing.check(event, record.partition(), record.key(), record.value(), record.headers());
    }

    private @Nullable String checked(RecordSigning signing, RecordSigner.Writer writer, Event event) {
        return check(all, event, sent(signing, writer, event));
    }

    private static RecordSigner.Writer as(String name) {
        return RecordSigner.Writer.of(name);
    }

    @Test
    void whatEachSenderSignsIsTaken() {
        assertNull(checked(n1, as("agent/n1"), about("agent/n1/p", "node/n1")));
        assertNull(checked(n1, RecordSigner.Writer.BRIDGE, about("agent/n1/p", "node/n1")));
        assertNull(checked(all, as(KeyNames.OPERATOR), new MigrationCancelRequested(from("operator/o/1", "node/n1"))));
        assertNull(checked(all, as(KeyNames.DIRECTORY), about("directory/d", "node/n1")));
        assertNull(checked(all, as(KeyNames.CLOCK), new Tick(from("clock/3/u", "clock/3"), 1, 1)));
        assertEquals(0, all.forged());
    }

    /** A shard of the store and another node: the record names the node that writes it. */
    @Test
    void anAgentReportsAboutTheStoreAndAsksOtherNodes() {
        List<Event> events = List.of(
                new BlocksStored(from("agent/n1/p", "store/2"), "n1", "ns", List.of()),
                new BlocksMissing(from("agent/n1/p", "store/2"), "n1", "ns", List.of()),
                new PeerReadRequested(from("agent/n1/p", "node/n2"), "g", "n1", "ns", List.of()),
                new PeerReadCancelled(from("agent/n1/p", "node/n2"), "g", "n1"));
        events.forEach(event -> assertNull(checked(n1, as("agent/n1"), event), event.toString()));
    }

    @Test
    void noSenderWritesWhatOthersDecide() {
        List<Event> events = List.of(
                new BlocksStored(from("agent/n1/p", "store/2"), "n2", "ns", List.of()),
                new PeerReadRequested(from("agent/n1/p", "node/n2"), "g", "n2", "ns", List.of()),
                new NodeDrainRequested(from("agent/n1/p", "node/n1"), "r", true, ""),
                new BlocksStored(from("directory/d", "store/2"), "n1", "ns", List.of()),
                new NodeDrainRequested(from("directory/d", "node/n1"), "r", true, ""),
                new BlocksStored(from("operator/o/1", "store/2"), "n1", "ns", List.of()));
        for (Event event : events) {
            for (String key : List.of("agent/n1", KeyNames.DIRECTORY, KeyNames.OPERATOR)) {
                assertTrue(String.valueOf(checked(all, as(key), event)).contains("may not write"), event + " by " + key);
            }
        }
    }

    @Test
    void noSenderWritesForAnother() {
        assertTrue(String.valueOf(checked(n1, as("agent/n1"), about("agent/n2/p", "node/n2"))).contains("not that of the key agent/n2"));
        assertTrue(String.valueOf(checked(n1, as("agent/n1"), about("agent/n1/p", "node/n2"))).contains("may not write"));
        assertTrue(String.valueOf(checked(n1, as("agent/n1"), about("agent/n1/p", "policy"))).contains("may not write"));
        assertTrue(String.valueOf(checked(n1, as("agent/n1"), new Tick(from("clock/3/u", "clock/3"), 1, 1))).contains("key clock"));
        assertTrue(String.valueOf(checked(all, as(KeyNames.CLOCK), new Tick(from("operator/o/1", "clock/3"), 1, 1))).contains("may not write"));
        assertTrue(String.valueOf(checked(n1, as("agent/n1"), new MigrationCancelRequested(from("operator/o/1", "node/n1"))))
                .contains("key operator"));
        assertTrue(String.valueOf(checked(all, as(KeyNames.DIRECTORY), about("operator/o/1", "node/n1"))).contains("may not write"));
        assertTrue(String.valueOf(checked(all, as(KeyNames.OPERATOR), about("engine/o/1", "node/n1"))).contains("may not write"));
        assertEquals(8, all.forged());
    }

    @Test
    void theCodeHoldsForOnePlaceAndOneValue() {
        Event event = about("agent/n1/p", "node/n1");
        ProducerRecord<byte[], byte[]> good = sent(n1, as("agent/n1"), event);
        byte[] key = good.key();
        byte[] value = good.value();
        Headers headers = good.headers();
        assertNull(all.check(event, 3, key, value, headers));
        assertTrue(String.valueOf(all.check(event, 2, key, value, headers)).contains("not that of the key"));
        assertTrue(String.valueOf(all.check(event, 3, Partitions.key("node/n2"), value, headers)).contains("not that of the key"));
        assertTrue(String.valueOf(all.check(event, 3, null, value, headers)).contains("not that of the key"));
        byte[] changed = value.clone();
        changed[changed.length - 1] ^= 1;
        assertTrue(String.valueOf(all.check(event, 3, key, changed, headers)).contains("not that of the key"));
        RecordSigning elsewhere = new RecordSigning(all.keys(), new Topics("other"), RecordSigning.Mode.REQUIRE);
        assertTrue(String.valueOf(elsewhere.check(event, 3, key, value, headers)).contains("not that of the key"));
    }

    @Test
    void codesThatAreMissingCutOrOfAnUnknownIdAreRefused() throws Exception {
        Event event = about("agent/n1/p", "node/n1");
        ProducerRecord<byte[], byte[]> good = sent(n1, as("agent/n1"), event);
        assertTrue(String.valueOf(all.check(event, 3, good.key(), good.value(), new RecordHeaders())).contains("no code"));
        assertTrue(String.valueOf(all.check(event, 3, good.key(), good.value(), new RecordHeaders().add(RecordMac.HEADER, new byte[31])))
                .contains("no code"));
        RecordSigning newer = new RecordSigning(keys(List.of("c " + "03".repeat(32))), TOPICS, RecordSigning.Mode.REQUIRE);
        assertTrue(String.valueOf(check(all, event, sent(newer, as("agent/n1"), event))).contains("key id 'c' is not among"));
    }

    @Test
    void keysRotateWithoutAGap() throws Exception {
        Event event = about("agent/n1/p", "node/n1");
        RecordSigning before = new RecordSigning(keys(List.of("a " + "01".repeat(32))), TOPICS, RecordSigning.Mode.REQUIRE);
        RecordSigning added = new RecordSigning(keys(List.of("a " + "01".repeat(32), "b " + "02".repeat(32))), TOPICS, RecordSigning.Mode.REQUIRE);
        assertNull(check(added, event, sent(before, as("agent/n1"), event)));
        assertNull(check(before, event, sent(added, as("agent/n1"), event)));
        assertNull(check(added, event, sent(all, as("agent/n1"), event)));
    }

    @Test
    void warnTakesAndCountsRecordsWithoutACodeOnly() {
        RecordSigning warn = new RecordSigning(all.keys(), TOPICS, RecordSigning.Mode.WARN);
        Event event = about("agent/n1/p", "node/n1");
        ProducerRecord<byte[], byte[]> good = sent(n1, as("agent/n1"), event);
        assertNull(warn.check(event, 3, good.key(), good.value(), new RecordHeaders()));
        assertEquals(1, warn.unsigned());
        assertNull(check(warn, event, good));
        assertTrue(String.valueOf(warn.check(event, 2, good.key(), good.value(), good.headers())).contains("not that of the key"));
        assertEquals(1, warn.forged());
    }

    @Test
    void aRecordWithoutAKeyLeavesWithAWarning() {
        Event event = about("agent/n2/p", "node/n2");
        ProducerRecord<byte[], byte[]> sent = sent(n1, RecordSigner.Writer.BRIDGE, event);
        assertFalse(RecordMac.hasCode(sent.headers()));
        assertEquals(1, n1.keyless());
    }

    @Test
    void whatTheControllerWritesIsCheckedPerNode() {
        RecordSigner signer = new RecordSigner();
        signer.configure(Map.of(RecordSigner.SIGNING, all, RecordSigner.WRITER, RecordSigner.Writer.CONTROLLER));
        for (String topic : List.of(TOPICS.commands(), TOPICS.decisions(), TOPICS.placements(), TOPICS.messages())) {
            ProducerRecord<byte[], byte[]> record = signer.onSend(new ProducerRecord<>(topic, 0, Partitions.key("node/n1"), null));
            assertNull(all.check(topic, 0, record.key(), null, record.headers()));
            assertTrue(String.valueOf(all.check(topic, 1, record.key(), null, record.headers())).contains("not that of the key"));
        }
        ProducerRecord<byte[], byte[]> own = signer.onSend(new ProducerRecord<>(TOPICS.commands(), 0, Partitions.key("node/n1"), new byte[1]));
        ProducerRecord<byte[], byte[]> other = signer.onSend(new ProducerRecord<>(TOPICS.commands(), 0, Partitions.key("node/n2"), new byte[1]));
        assertNull(n1.check(TOPICS.commands(), 0, own.key(), own.value(), own.headers()));
        assertTrue(String.valueOf(n1.check(TOPICS.commands(), 0, own.key(), own.value(), other.headers()))
                .contains("not that of the key command/n1"));
        assertFalse(signer.onSend(new ProducerRecord<>("changelog", 0, own.key(), own.value())).headers().iterator().hasNext());
    }
}
