/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.Verifier;
import io.tierlog.ops.audit.VerifyReport;
import io.tierlog.ops.audit.rerun.Rerun;
import io.tierlog.ops.audit.rerun.RerunReport;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.ops.audit.state.StateReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots in a directory: whole or not there, whatever fails while one is made; and what begins at one ends as if it had read the whole log. */
class SnapshotterTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path root;

    private final TickLog log = new TickLog().ticks(40);

    private Snapshotter snapshotter(SnapshotDirectory directory, LogSource source) {
        return new Snapshotter(directory, source, TickLog.TOPICS, log.codec, 2);
    }

    private Snapshot create(Path directory, LogSource source) throws InterruptedException {
        return snapshotter(new SnapshotDirectory(directory), source).create(5_000).snapshot().orElseThrow();
    }

    private static byte[] image(Snapshot snapshot) throws IOException {
        return Files.readAllBytes(snapshot.directory().resolve("partition-0"));
    }

    @Test
    void anImageOnFromASnapshotIsThatOfTheWholeLog() throws Exception {
        Snapshot first = create(root, log.log());
        assertEquals("", first.previous());
        log.ticks(30);
        Snapshot second = create(root, log.log());
        assertEquals(first.name(), second.previous());
        Snapshot whole = create(root.resolve("other"), log.log());
        assertArrayEquals(image(whole), image(second));
        assertEquals(List.of("snapshot-000001", "snapshot-000002"), new SnapshotDirectory(root).list().stream().map(Snapshot::name).toList());
        PartitionStart start = second.of(0).orElseThrow();
        for (var table : Rows.ALL) {
            assertEquals(log.tables().rows(table), start.tables().rows(table), table.name());
        }
        assertEquals("the-controller", start.at().applicationId());
        assertEquals(70, start.at().nextEvent());
        assertEquals(log.decisions(), start.at().nextDecision());
    }

    /** The log says from which offset on a version of the core decides. */
    @Test
    void rerunDecidesByTheVersionOnRecord() throws Exception {
        TickLog raised = new TickLog().version(CoreVersion.OLDEST).ticks(20);
        Snapshot snapshot = create(root, raised.log());
        raised.ticks(10).version(CoreVersion.CURRENT).ticks(10);
        for (LogStart start : List.of(LogStart.BEGINNING, snapshot)) {
            RerunReport report = new Rerun(raised.log(), TickLog.TOPICS, raised.codec, 1, start).run();
            assertEquals(0, report.differences(), () -> report.toString());
            assertEquals(start == snapshot ? 20 : 40, report.events());
            assertTrue(verify(raised.log(), start).holds());
        }
    }

    @Test
    void aTrimmedLogIsVerifiedRerunAndShownFromTheSnapshot() throws Exception {
        Snapshot snapshot = create(root, log.log());
        PartitionStart.At at = snapshot.places().getFirst();
        log.ticks(30);
        LogSource trimmed = log.trimmed(at.nextEvent() - 1, at.nextDecision() - 1);
        for (LogStart start : List.of(snapshot, SnapshotDirectory.find(root))) {
            VerifyReport report = verify(trimmed, start);
            assertTrue(report.holds(), report.toString());
            assertTrue(new Rerun(trimmed, TickLog.TOPICS, log.codec, 1, start).run().isSame());
            LogState state = new StateReader(trimmed, TickLog.TOPICS, log.codec, 1, _ -> start).read(new Moment.End(), Optional.empty());
            assertEquals(log.tables().rows(Rows.CLOCK), state.partitions().getFirst().tables().rows(Rows.CLOCK));
        }
        List<Callable<?>> withoutOne = List.of(
                () -> verify(trimmed, LogStart.BEGINNING),
                () -> new Rerun(trimmed, TickLog.TOPICS, log.codec, 1).run(),
                () -> new StateReader(trimmed, TickLog.TOPICS, log.codec, 1).read(new Moment.End(), Optional.empty()));
        for (Callable<?> reader : withoutOne) {
            AuditException error = assertThrows(AuditException.class, reader::call);
            assertTrue(error.hint().contains("--snapshot"), error.hint());
        }
        AuditException before = assertThrows(AuditException.class, () -> new StateReader(trimmed, TickLog.TOPICS, log.codec, 1, _ -> snapshot)
                .read(new Moment.Decision(0, 3), Optional.empty()));
        assertTrue(before.getMessage().contains("before the snapshot"), before.getMessage());
        AuditException gap = assertThrows(AuditException.class, () -> verify(log.trimmed(60, 60), snapshot));
        assertTrue(gap.getMessage().contains("trimmed"), gap.getMessage());
    }

    /** Three snapshots of a log that is trimmed at the first: the newest begins that is not later than the moment. */
    @Test
    void aMomentIsReadFromTheNewestSnapshotBeforeIt() throws Exception {
        List<PartitionStart.At> places = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            places.add(create(root, log.log()).places().getFirst());
            log.ticks(20);
        }
        LogSource trimmed = log.trimmed(places.getFirst().nextEvent() - 1, places.getFirst().nextDecision() - 1);
        for (int i = 0; i < 3; i++) {
            PartitionStart.At at = places.get(i);
            assertBeginsAt(trimmed, i, new Moment.Decision(0, at.lastDecision()), at.lastDecision());
            assertBeginsAt(trimmed, i, new Moment.Decision(0, at.lastDecision() + 1), at.lastDecision() + 1);
            assertBeginsAt(trimmed, i, new Moment.Time(at.lastTimeMs()), at.lastDecision());
            assertBeginsAt(trimmed, i, new Moment.Input(0, at.lastEvent()), at.lastDecision());
            if (i > 0) {
                assertBeginsAt(trimmed, i - 1, new Moment.Decision(0, at.lastDecision() - 1), at.lastDecision() - 1);
                assertBeginsAt(trimmed, i - 1, new Moment.Time(at.lastTimeMs() - 1), -1);
                assertBeginsAt(trimmed, i - 1, new Moment.Input(0, at.lastEvent() - 1), -1);
            }
        }
        assertBeginsAt(trimmed, 2, new Moment.Bare(places.getLast().lastDecision()), places.getLast().lastDecision());
        assertBeginsAt(trimmed, 2, new Moment.End(), log.decisions() - 1);
        // Another partition's offsets say nothing about this one.
        assertFalse(new SnapshotDirectory(root).last().orElseThrow().isAfter(new Moment.Decision(1, 0)));

        Moment early = new Moment.Decision(0, places.getFirst().lastDecision() - 1);
        AuditException none = assertThrows(AuditException.class, () -> assertBeginsAt(trimmed, 0, early, 0));
        assertTrue(none.getMessage().contains("are later than"), none.getMessage());
        assertTrue(none.hint().contains("leave out --snapshot") && none.hint().contains("audit archive"), none.hint());
        AuditException empty = assertThrows(AuditException.class, () -> SnapshotDirectory.find(root.resolve("none"), early));
        assertTrue(empty.getMessage().contains("there is no snapshot"), empty.getMessage());
    }

    /** Asks for the tables at a moment, and for what changed since. The last decision at that moment may be left out, -1. */
    private void assertBeginsAt(LogSource source, int snapshot, Moment moment, long lastDecision) throws InterruptedException {
        List<String> begun = new ArrayList<>();
        StateReader reader = new StateReader(source, TickLog.TOPICS, log.codec, 1, first -> {
            Snapshot found = SnapshotDirectory.find(root, first);
            begun.add(found.name());
            return found;
        });
        LogState state = reader.read(moment, Optional.empty());
        if (lastDecision >= 0) {
            assertEquals(lastDecision, state.partitions().getFirst().at().offset());
        }
        reader.difference(moment, new Moment.End(), Optional.empty());
        String name = "snapshot-00000" + (snapshot + 1);
        assertEquals(List.of(name, name), begun, moment.toString());
    }

    private VerifyReport verify(LogSource source, LogStart start) throws InterruptedException {
        return new Verifier(source, TickLog.TOPICS, log.codec, new Verifier.Options(1, false, true, false, start, Optional.empty())).verify();
    }

    /** The chain goes over the seam: the first decision after the snapshot is missing. */
    @Test
    void aRecordThatIsMissingAfterTheSnapshotIsFound() throws Exception {
        Snapshot snapshot = create(root, log.log());
        int next = (int) snapshot.places().getFirst().nextDecision();
        log.ticks(30);
        assertTrue(verify(log.log(), snapshot).holds());
        assertFalse(verify(log.without(next), snapshot).holds());
        Snapshotter.Made made = snapshotter(new SnapshotDirectory(root), log.without(next)).create(6_000);
        assertTrue(made.snapshot().isEmpty() && made.finding().isPresent(), "no snapshot of a log that is broken");
        assertEquals(1, new SnapshotDirectory(root).list().size());
        try (Stream<Path> left = Files.list(root)) {
            assertEquals(List.of(snapshot.name()), left.map(path -> path.getFileName().toString()).toList());
        }
    }

    @Test
    void aVerifiedSnapshotStaysSoUntilItChanges() throws Exception {
        Snapshot snapshot = create(root, log.log());
        assertFalse(snapshot.isVerified());
        assertEquals(Optional.empty(), snapshotter(new SnapshotDirectory(root), log.log()).verify(snapshot));
        assertTrue(snapshot.isVerified());
        log.ticks(10);
        Snapshot second = create(root, log.log());
        LogSource trimmed = log.trimmed(30, 30);
        assertEquals(Optional.empty(), snapshotter(new SnapshotDirectory(root), trimmed).verify(second), "on from the first one");
        Path file = second.directory().resolve("partition-0");
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
        AuditException damaged = assertThrows(AuditException.class, () -> second.of(0));
        assertTrue(damaged.getMessage().contains("checksum"), damaged.getMessage());
        assertThrows(AuditException.class, () -> snapshotter(new SnapshotDirectory(root), log.log()).verify(second));
    }

    /** A mark "verified" never rests on a snapshot that is not. */
    @Test
    void withoutTheBeginningOnlyAVerifiedSnapshotIsGoneOnFrom() throws Exception {
        Snapshot first = create(root, log.log());
        log.ticks(10);
        Snapshot second = create(root, log.log());
        log.ticks(10);
        Snapshot third = create(root, log.log());
        LogSource trimmed = log.trimmed(30, 30);
        AuditException refused =
                assertThrows(AuditException.class, () -> snapshotter(new SnapshotDirectory(root), trimmed).verify(third));
        assertTrue(refused.getMessage().contains("is verified") && refused.hint().contains(second.name()), refused + " " + refused.hint());
        assertFalse(third.isVerified());
        assertEquals(Optional.empty(), snapshotter(new SnapshotDirectory(root), log.log()).verify(first));
        assertEquals(Optional.empty(), snapshotter(new SnapshotDirectory(root), trimmed).verify(third), "on from the first, over the second");
        assertTrue(third.isVerified() && !second.isVerified());
    }

    /** Fails at one operation; as a crash does, at all later ones too. */
    private static class Failing implements SnapshotFiles {
        private final int at;
        private final boolean crash;
        private int operations;

        Failing(int at, boolean crash) {
            this.at = at;
            this.crash = crash;
        }

        private void step() throws IOException {
            int now = operations++;
            if (now == at || (crash && now > at)) {
                throw new IOException("No space left on device");
            }
        }

        @Override
        public void createDirectory(Path directory) throws IOException {
            step();
            DISK.createDirectory(directory);
        }

        @Override
        public OutputStream write(Path file) throws IOException {
            step();
            OutputStream out = DISK.write(file);
            return new OutputStream() {
                @Override
                public void write(int one) throws IOException {
                    step();
                    out.write(one);
                }

                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    step();
                    out.write(bytes, offset, length);
                }

                @Override
                public void close() throws IOException {
                    try (out) {
                        step();
                    }
                }
            };
        }

        @Override
        public void sync(Path directory) throws IOException {
            step();
            DISK.sync(directory);
        }

        @Override
        public void rename(Path from, Path to) throws IOException {
            step();
            DISK.rename(from, to);
        }

        @Override
        public void delete(Path path) throws IOException {
            step();
            DISK.delete(path);
        }
    }

    /** Each operation once, on a full disk and at the end of the process: what has a name is whole, and the next one is made. */
    @Test
    void whateverFailsWhatHasANameIsWhole() throws Exception {
        for (boolean crash : List.of(false, true)) {
            int at = 0;
            int failed = 0;
            while (true) {
                Path directory = root.resolve(crash + "-" + at);
                create(directory, log.log());
                Failing failing = new Failing(at, crash);
                Snapshotter snapshotter = snapshotter(new SnapshotDirectory(directory, failing), log.log());
                try {
                    snapshotter.create(6_000);
                } catch (AuditException e) {
                    assertTrue(e.getMessage().contains("No space left"), e.getMessage());
                    failed++;
                }
                for (Snapshot snapshot : new SnapshotDirectory(directory).list()) {
                    snapshot.requireWhole();
                    assertEquals(log.decisions(), snapshot.of(0).orElseThrow().at().nextDecision());
                }
                assertEquals(Optional.empty(),
                        snapshotter(new SnapshotDirectory(directory), log.log()).verify(create(directory, log.log())));
                if (failing.operations <= at) {
                    break;
                }
                at++;
            }
            assertTrue(failed > 6, failed + " of " + at + " operations failed");
        }
    }

    /** What a killed process left is deleted by the next create; what another one still makes is not. */
    @Test
    void leftoversOfKilledProcessesAreDeleted() throws Exception {
        Path left = Files.createDirectories(root.resolve(".making-dead"));
        Files.writeString(left.resolve("partition-0"), "half");
        Files.writeString(root.resolve(".making-dead.lock"), "");
        Snapshot made = create(root, log.log());
        try (Stream<Path> all = Files.list(root)) {
            assertEquals(List.of(made.name()), all.map(path -> path.getFileName().toString()).toList());
        }
    }

    /** Another process makes one at each moment of the deletion: neither takes what the other is at work on. */
    @Test
    void oldOnesAreDeletedWhileOthersAreMade() throws Exception {
        create(root, log.log());
        create(root, log.log());
        Snapshot last = create(root, log.log());
        new SnapshotDirectory(root, new Failing(Integer.MAX_VALUE, false) {
            @Override
            public void delete(Path path) throws IOException {
                try {
                    assertEquals(Optional.empty(), new SnapshotDirectory(root).create(_ -> Optional.empty()));
                    assertTrue(Files.exists(path), "another one has deleted " + path);
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
                super.delete(path);
            }
        }).keep(1);
        try (Stream<Path> all = Files.list(root)) {
            assertEquals(List.of(last.name()), all.map(path -> path.getFileName().toString()).toList());
        }
    }

    @Test
    void severalAtOnceEachGetANameOfTheirOwn() throws Exception {
        int count = 6;
        try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
            List<Future<Snapshot>> making = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                making.add(threads.submit(() -> create(root, log.log())));
            }
            List<String> names = new ArrayList<>();
            for (Future<Snapshot> one : making) {
                Snapshot snapshot = one.get(60, TimeUnit.SECONDS);
                snapshot.requireWhole();
                names.add(snapshot.name());
            }
            assertEquals(count, names.stream().distinct().count(), names.toString());
        }
        assertEquals(count, new SnapshotDirectory(root).list().size());
    }
}
