/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.events.sign.RecordKeys;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.Verifier;
import io.tierlog.ops.audit.VerifyReport;
import io.tierlog.ops.audit.rerun.Rerun;
import io.tierlog.ops.audit.rerun.RerunReport;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** What must hold of the log once the work is done: it is whole, at rest, and decided as this build decides. For one thread. */
final class LogOracle {
    private static final Duration REST = Duration.ofSeconds(90);
    private static final int THREADS = 2;

    private final KafkaAccess access;
    private final Codec codec;
    private final RecordSigning signing;

    /** {@code masterKeys} is the file of keys that sign the records. */
    LogOracle(KafkaAccess access, Codec codec, Path masterKeys) {
        this.access = access;
        this.codec = codec;
        this.signing = new RecordSigning(RecordKeys.read(masterKeys), Topics.DEFAULT, RecordSigning.Mode.REQUIRE);
    }

    /** Verifies while work goes on: nothing that is only unfinished may be reported. */
    void verifyWhileRunning() throws InterruptedException {
        VerifyReport report = verify(false);
        assertTrue(report.holds(), () -> "audit verify on the running cluster: " + report.first() + ", in all " + report.findings());
    }

    /** Waits until the log is at rest and holds; a violation never goes away, so it is reported in the end. */
    VerifyReport verifyAtRest() {
        AtomicReference<VerifyReport> last = new AtomicReference<>();
        boolean held = Until.within(REST, () -> {
            try {
                last.set(verify(true));
                if (!last.get().holds()) {
                    Until.isOver(Duration.ofMillis(500)); // each attempt reads the whole log
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return last.get().holds();
        });
        assertTrue(held, () -> "audit verify --at-rest: " + last.get().first() + ", in all " + last.get().findings());
        return last.get();
    }

    /** Of the log as it is. */
    VerifyReport verify(boolean atRest) throws InterruptedException {
        try (LogSource log = new ClusterLog(access)) {
            Verifier.Options options = new Verifier.Options(THREADS, atRest, true, true, LogStart.BEGINNING, Optional.of(signing));
            return new Verifier(log, Topics.DEFAULT, codec, options).verify();
        }
    }

    /** The controllers that were killed and took over have decided what one that was never disturbed decides. */
    void rerunIsTheSame() throws InterruptedException {
        try (LogSource log = new ClusterLog(access)) {
            RerunReport report = new Rerun(log, Topics.DEFAULT, codec, THREADS).run();
            assertTrue(report.isSame(), () -> "audit rerun: " + report.differences() + " differences, first " + report.first());
        }
    }

    /** The keys of all blocks that engines have asked for, in hexadecimal digits, by their namespace. */
    Map<String, Set<String>> askedFor() {
        Map<String, Set<String>> keys = new TreeMap<>();
        readEvents(entry -> {
            if (entry.reading() instanceof Reading.Decoded<Event>(RequestSubmitted request)) {
                Set<String> own = keys.computeIfAbsent(request.namespace(), _ -> new LinkedHashSet<>());
                request.keys().forEach(key -> own.add(HexFormat.of().formatHex(key.toArray())));
            }
        });
        return keys;
    }

    /** Every event of every sender is on the log once, without a gap: what was acknowledged is not lost and not there twice. */
    long everyEventIsThereOnce() {
        Map<String, Long> last = new HashMap<>();
        return readEvents(entry -> {
            if (entry.reading() instanceof Reading.Decoded<Event>(Event event)) {
                Envelope envelope = event.envelope();
                String sender = envelope.sender() + " about " + envelope.aggregate() + " in partition " + entry.partition();
                long expected = last.getOrDefault(sender, 0L) + 1;
                assertEquals(expected, envelope.sequence(), () -> sender + ", offset " + entry.offset());
                last.put(sender, expected);
            }
        });
    }

    /** The core versions that each partition was raised to, in their order; its first one is not among them. */
    Map<Integer, List<Integer>> raisedVersions() {
        Map<Integer, List<Integer>> raised = new TreeMap<>();
        read(new LogReader.Source<>(Topics.DEFAULT.decisions(), Fact.class, LogReader.Isolation.COMMITTED), entry -> {
            if (entry.reading() instanceof Reading.Decoded<Fact>(CoreVersionRaised version)) {
                raised.computeIfAbsent(entry.partition(), _ -> new ArrayList<>()).add(version.coreVersion());
            }
        });
        return raised;
    }

    private long readEvents(Consumer<LogReader.Entry<Event>> sink) {
        return read(new LogReader.Source<>(Topics.DEFAULT.events(), Event.class, LogReader.Isolation.COMMITTED), sink);
    }

    private <F extends WireRecord> long read(LogReader.Source<F> source, Consumer<LogReader.Entry<F>> sink) {
        try (LogReader<F> reader = new LogReader<>(access, codec, source)) {
            return reader.readToEnd(sink);
        }
    }
}
