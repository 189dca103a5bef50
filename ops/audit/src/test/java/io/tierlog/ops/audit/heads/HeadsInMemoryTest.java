/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.head.LogHead;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Heads of a log in memory. Two heads; the first signs events 0 and 1 and decision 0, the second event 2. */
@SuppressWarnings("NullAway.Init") // JUnit sets the fields.
class HeadsInMemoryTest {
    private static final Topics TOPICS = Topics.DEFAULT;
    private static final TopicPartition EVENTS = new TopicPartition(TOPICS.events(), 0);
    private static final TopicPartition DECISIONS = new TopicPartition(TOPICS.decisions(), 0);

    @TempDir
    private Path directory;

    private final Codec codec = new Codec(Schemas.bundled());
    private final List<LogEntry> events = new ArrayList<>(List.of(record(0, "a"), record(1, "b"), record(2, "c")));
    private final List<LogEntry> decisions = new ArrayList<>(List.of(record(0, "d")));
    private final List<LogEntry> heads = new ArrayList<>();
    private HeadKeys keys;
    private SigningKey key;

    @BeforeEach
    void sign() throws IOException {
        key = key("first");
        NextHead next = new NextHead(TOPICS.prefix(), 0, Bytes.EMPTY, Map.of(EVENTS, 0L, DECISIONS, 0L));
        next.take(EVENTS, (LogEntry.Data) events.get(0));
        next.take(EVENTS, (LogEntry.Data) events.get(1));
        next.take(DECISIONS, (LogEntry.Data) decisions.getFirst());
        next.reached(EVENTS, 2);
        next.reached(DECISIONS, 1);
        heads.add(head(0, next, key));
        next.take(EVENTS, (LogEntry.Data) events.get(2));
        next.reached(EVENTS, 3);
        heads.add(head(1, next, key));
    }

    private SigningKey key(String name) throws IOException {
        SigningKey.Pair pair = SigningKey.create();
        Path file = Files.createFile(directory.resolve(name), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, pair.privateKey());
        Path all = directory.resolve("public");
        Files.writeString(all, (Files.exists(all) ? Files.readString(all) : "") + pair.publicKey());
        keys = HeadKeys.read(all);
        return SigningKey.read(file, keys);
    }

    private static LogEntry.Data record(long offset, String value) {
        return new LogEntry.Data(offset, 10 + offset, "k".getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8));
    }

    private LogEntry.Data head(long offset, NextHead next, SigningKey with) {
        byte[] value = codec.encode(TOPICS.heads(), next.at(1_000 + offset));
        next.signed(value);
        RecordHeaders headers = new RecordHeaders();
        with.sign(value, headers);
        return new LogEntry.Data(offset, 1_000 + offset, null, value, headers);
    }

    private HeadReport check() throws InterruptedException {
        MemoryLog log = new MemoryLog().with(TOPICS.events(), events).with(TOPICS.decisions(), decisions).with(TOPICS.heads(), heads);
        return new HeadCheck(log, TOPICS, codec, keys, 1, Long.MAX_VALUE).check(Optional.empty());
    }

    private void assertFound(String... details) throws InterruptedException {
        assertEquals(List.of(details), SignedLog.found(check()));
    }

    @Test
    void whatIsSignedHolds() throws Exception {
        HeadReport report = check();
        assertEquals(List.of(2L, 4L, 3L, 0L), List.of(report.heads(), report.records(), report.stretches(), report.found()));
    }

    @Test
    void theEndIsProven() throws Exception {
        events.removeLast();
        assertFound("HEADS tierlog.events-0@2: partition 0 of tierlog.events ends at offset 2, and head 2 of TIME has it up to offset 3: the end was"
                + " cut off or lost");
    }

    @Test
    void anAlteredRecordIsNamed() throws Exception {
        events.set(2, record(2, "x"));
        assertFound("HEADS tierlog.events-0@2: records 2 to 2 are not those of head 2 of TIME: of 1 at least one was altered");
    }

    @Test
    void aRemovedRecordIsNamed() throws Exception {
        events.set(0, new LogEntry.Passed(0, 0));
        assertFound("HEADS tierlog.events-0@0: records 0 to 1 are not those of head 1 of TIME: it has 2 of them, and there are 1");
    }

    @Test
    void damagedRecordsAreNamed() throws Exception {
        events.set(2, new LogEntry.Damaged(2, 2, "torn"));
        assertFound("HEADS tierlog.events-0@2: records 2 to 2 cannot be compared with head 2 of TIME: records 2 to 2: torn");
    }

    /** Its signature is of other bytes, by the right key. */
    @Test
    void aForgedHeadIsNamed() throws Exception {
        NextHead other = new NextHead(TOPICS.prefix(), 2, HeadRecords.hash(data(1).value()), Map.of(EVENTS, 3L, DECISIONS, 1L));
        LogEntry.Data forged = head(2, other, key);
        heads.add(new LogEntry.Data(2, 0, null, forged.value(), data(1).headers()));
        assertFound("HEADS tierlog.heads-0@2: the record at offset 2 is not a head of this log: its signature is not that of the key " + key.id());
    }

    /** The head after it carries the hash of another one. */
    @Test
    void aHeadThatDoesNotFollowIsNamed() throws Exception {
        NextHead other = new NextHead(TOPICS.prefix(), 0, Bytes.EMPTY, Map.of(EVENTS, 0L, DECISIONS, 0L));
        other.take(EVENTS, (LogEntry.Data) events.get(0));
        other.reached(EVENTS, 1);
        heads.set(0, head(0, other, key));
        assertFound("HEADS tierlog.heads-0@1: head 2 does not follow the head 1 that is there");
    }

    /** Two heads with right signatures, one of which begins behind the end of the other: signed by one who has the key. */
    @Test
    void recordsBetweenTwoHeadsAreNamed() throws Exception {
        LogHead first = ((HeadRecords.Read.Signed) new HeadRecords(TOPICS, codec, keys).read(data(0).value(), data(0).headers())).head();
        NextHead next = new NextHead(TOPICS.prefix(), first.number(), HeadRecords.hash(data(0).value()), Map.of(EVENTS, 3L, DECISIONS, 1L));
        next.reached(EVENTS, 4);
        events.add(new LogEntry.Passed(3, 3));
        heads.set(1, head(1, next, key));
        assertFound("HEADS tierlog.events-0@2: head 2 of TIME begins at offset 3, and the head before ends at offset 2");
    }

    private LogEntry.Data data(int head) {
        return (LogEntry.Data) heads.get(head);
    }

    @Test
    void theFirstHeadIsThere() throws Exception {
        heads.removeFirst();
        heads.addFirst(new LogEntry.Passed(0, 0));
        assertFound("HEADS tierlog.heads-0@1: head 1 is missing");
    }

    @Test
    void aKeyThatWasReplacedSignsNoMore() throws Exception {
        SigningKey old = key;
        key = key("second");
        heads.clear();
        NextHead next = new NextHead(TOPICS.prefix(), 0, Bytes.EMPTY, Map.of(EVENTS, 3L, DECISIONS, 1L));
        heads.add(head(0, next, key));
        heads.add(head(1, next, old));
        assertFound("HEADS tierlog.heads-0@1: head 2 is signed with the key " + old.id() + ", and heads before it with a later one of --head-keys");
    }

    /** A signer that went on would begin a chain that knows nothing of the heads that are gone. */
    @Test
    void aSignerWhoseHeadsAreGoneEnds() {
        HeadSigner.requireNotBefore(new HeadSigner.Last(2, 20), new HeadSigner.Last(2, 20));
        AuditException gone = assertThrows(AuditException.class,
                () -> HeadSigner.requireNotBefore(new HeadSigner.Last(1, 10), new HeadSigner.Last(2, 20)));
        assertTrue(String.valueOf(gone.getMessage()).startsWith("head 2, which this process has signed or read, is not there any more"));
    }

    /** Whatever is changed in a record changes the digest, and parts cannot pass from one to the next. */
    @Test
    void theDigestHasAllOfARecord() {
        RecordHeaders code = new RecordHeaders(List.of(new RecordHeader("h", bytes("code"))));
        LogEntry.Data record = new LogEntry.Data(5, 7, bytes("key"), bytes("value"), code);
        Bytes sum = sum(record);
        assertEquals(sum, sum(record));
        for (LogEntry.Data other : List.of(
                new LogEntry.Data(6, 7, record.key(), record.value(), record.headers()),
                new LogEntry.Data(5, 8, record.key(), record.value(), record.headers()),
                new LogEntry.Data(5, 7, bytes("ke"), bytes("yvalue"), record.headers()),
                new LogEntry.Data(5, 7, null, record.value(), record.headers()),
                new LogEntry.Data(5, 7, record.key(), null, record.headers()),
                new LogEntry.Data(5, 7, record.key(), record.value(), new RecordHeaders()),
                new LogEntry.Data(5, 7, record.key(), record.value(), new RecordHeaders(List.of(new RecordHeader("h", bytes("Code"))))),
                new LogEntry.Data(5, 7, record.key(), record.value(), new RecordHeaders(List.of(new RecordHeader("hc", bytes("ode"))))))) {
            assertNotEquals(sum, sum(other));
        }
        assertEquals(Bytes.EMPTY, new StretchDigest().take());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Bytes sum(LogEntry.Data record) {
        StretchDigest digest = new StretchDigest();
        digest.add(record);
        return digest.take();
    }

    @Test
    void wrongFilesOfKeysAreRefused() throws Exception {
        Path open = directory.resolve("open");
        Files.writeString(open, SigningKey.create().privateKey());
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
        assertRefused("chmod o-rwx", () -> SigningKey.read(open, keys));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-------"));
        assertRefused("none of the public keys of --head-keys is that of the private key", () -> SigningKey.read(open, keys));
        assertRefused("has no public key", () -> HeadKeys.read(open));
        assertRefused("cannot be read", () -> HeadKeys.read(directory.resolve("absent")));
        Path rsa = Files.writeString(directory.resolve("rsa"), PemText.of("PUBLIC KEY", new byte[] {1, 2, 3}));
        assertRefused("is not one of Ed25519", () -> HeadKeys.read(rsa));
        assertRefused("has 0 private keys", () -> SigningKey.read(Files.createFile(directory.resolve("empty"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))), keys));
        assertTrue(!SigningKey.create().toString().contains("PRIVATE"));
    }

    private static void assertRefused(String why, Executable call) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, call);
        assertTrue(String.valueOf(refused.getMessage()).contains(why), refused.getMessage());
    }
}
