/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordKeys;
import io.tierlog.events.sign.RecordSigner;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.event.Tick;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tick, its decision and a placement, signed or not: an audit with record keys names what is forged. */
class CodeCheckTest {
    private static final String CLOCK = "clock/0";
    private static final Topics TOPICS = Topics.DEFAULT;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final Codec codec = new Codec(Schemas.bundled());

    @SuppressWarnings("NullAway.Init") // JUnit calls keys() first.
    private RecordKeys keys;

    @BeforeEach
    void keys() throws IOException {
        Path file = Files.createFile(directory.resolve("keys"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        keys = RecordKeys.read(Files.write(file, List.of("a " + "01".repeat(32))));
    }

    private RecordSigning signing(RecordSigning.Mode mode) {
        return new RecordSigning(keys, TOPICS, mode);
    }

    /** The record with the code of this writer. */
    private LogEntry.Data signed(String topic, LogEntry.Data record, RecordSigner.Writer writer) {
        try (RecordSigner signer = new RecordSigner()) {
            signer.configure(Map.of(RecordSigner.SIGNING, signing(RecordSigning.Mode.REQUIRE), RecordSigner.WRITER, writer));
            ProducerRecord<byte[], byte[]> sent = signer.onSend(new ProducerRecord<>(topic, 0, record.key(), record.value()));
            return new LogEntry.Data(record.offset(), record.timestampMs(), record.key(), record.value(), sent.headers());
        }
    }

    private LogEntry.Data record(String topic, WireRecord value) {
        return new LogEntry.Data(0, 0, CLOCK.getBytes(StandardCharsets.UTF_8), codec.encode(topic, value));
    }

    private LogEntry.Data tick() {
        return record(TOPICS.events(), new Tick(new Envelope(CLOCK, CLOCK + "/u", 0, 1, 0, 5, null, null, null), 5));
    }

    private LogEntry.Data decision() {
        return record(TOPICS.decisions(), new TimeAdvanced(new Envelope(CLOCK, "controller/0", 0, 1, 0, 5, CLOCK + "@0", null, null), 5, 1));
    }

    private LogEntry.Data signedTick() {
        return signed(TOPICS.events(), tick(), RecordSigner.Writer.of(KeyNames.CLOCK));
    }

    private LogEntry.Data signedDecision() {
        return signed(TOPICS.decisions(), decision(), RecordSigner.Writer.CONTROLLER);
    }

    private VerifyReport verify(LogEntry tick, LogEntry decision, List<LogEntry> placements, RecordSigning.Mode mode) throws InterruptedException {
        LogSource log = new MemoryLog()
                .with(TOPICS.events(), List.of(tick))
                .with(TOPICS.decisions(), List.of(decision))
                .with(TOPICS.placements(), placements);
        Verifier.Options options = new Verifier.Options(1, false, false, true, LogStart.BEGINNING, Optional.of(signing(mode)));
        return new Verifier(log, TOPICS, codec, options).verify();
    }

    @Test
    void whatItsWriterSignedHolds() throws Exception {
        VerifyReport report = verify(signedTick(), signedDecision(), List.of(), RecordSigning.Mode.REQUIRE);
        assertEquals(Map.of(), report.findings());
        assertEquals(List.of(), report.notes());
    }

    @Test
    void anEventOfAnotherIsNamed() throws Exception {
        LogEntry.Data forged = signed(TOPICS.events(), tick(), RecordSigner.Writer.of(KeyNames.OPERATOR));
        VerifyReport report = verify(forged, signedDecision(), List.of(), RecordSigning.Mode.REQUIRE);
        assertEquals("CODE tierlog.events-0@0: its code is not that of the key clock under the id a: it is forged, or its writer has a file of"
                + " --record-keys that does not come from ours", report.first().orElseThrow().toString());
        assertEquals(Map.of(Finding.CODE, 1L), report.findings());
    }

    @Test
    void aDecisionWithoutACodeIsNamed() throws Exception {
        VerifyReport report = verify(signedTick(), decision(), List.of(), RecordSigning.Mode.REQUIRE);
        assertEquals("CODE tierlog.decisions-0@0: it has no code", report.first().orElseThrow().toString());
    }

    /** It contradicts the decisions too, which may only follow from it. */
    @Test
    void aPlacementWithoutACodeIsNamedFirst() throws Exception {
        Block block = new Block(0, Bytes.wrapUnshared(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}), Bytes.EMPTY);
        BlocksPlaced placed = new BlocksPlaced(new Envelope("node/a", "controller/0", 1, 1, 0, 5, CLOCK + "@0", null, null), Tier.HOST, "m",
                List.of(new PagedBlock(block, 0, 1, 0)), null, Tier.UNKNOWN, 0);
        PlacementFeed.Publication one = PlacementFeed.of(placed).getFirst();
        Placement placement = Objects.requireNonNull(one.placement());
        LogEntry.Data forged = new LogEntry.Data(0, 0, one.key().toArray(), codec.encode(TOPICS.placements(), placement));
        VerifyReport report = verify(signedTick(), signedDecision(), List.of(forged), RecordSigning.Mode.REQUIRE);
        assertEquals("CODE tierlog.placements-0@0: it has no code", report.first().orElseThrow().toString());
    }

    @Test
    void recordsWithoutACodeAreCountedWhereTheyAreTaken() throws Exception {
        VerifyReport report = verify(tick(), decision(), List.of(), RecordSigning.Mode.WARN);
        assertEquals(Map.of(), report.findings());
        assertEquals(List.of("2 records have no code, which --record-check WARN takes"), report.notes());
    }

    /** The key is right, and it signed these bytes for another topic. */
    @Test
    void aRecordThatWasCopiedFromElsewhereIsNamed() throws Exception {
        LogEntry.Data elsewhere = signed(TOPICS.decisions(), tick(), (signing, topic, key) -> KeyNames.CLOCK);
        VerifyReport report = verify(elsewhere, signedDecision(), List.of(), RecordSigning.Mode.REQUIRE);
        assertEquals(Map.of(Finding.CODE, 1L), report.findings());
    }
}
