/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.events.Codec;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Tick;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Ticks and their facts: with a wrong key, and while more of them come. */
class PartitionAuditTest {
    private static final String CLOCK = "clock/0";

    private final Codec codec = new Codec(Schemas.bundled());
    private final Topics topics = Topics.DEFAULT;

    private LogEntry record(String topic, @Nullable String key, WireRecord value) {
        return new LogEntry.Data(0, 0, key == null ? null : key.getBytes(StandardCharsets.UTF_8), codec.encode(topic, value));
    }

    private List<String> audit(@Nullable String keyOfEvent, @Nullable String keyOfDecision) {
        Tick tick = new Tick(new Envelope(CLOCK, CLOCK, 0, 1, 0, 5, null, null, null), 5);
        TimeAdvanced advanced = new TimeAdvanced(new Envelope(CLOCK, "controller/0", 0, 1, 0, 5, CLOCK + "@0", null, null), 5, 1);
        LogSource log = new MemoryLog()
                .with(topics.events(), List.of(record(topics.events(), keyOfEvent, tick)))
                .with(topics.decisions(), List.of(record(topics.decisions(), keyOfDecision, advanced)));
        return audit(log, OptionalLong.of(1));
    }

    private List<String> audit(LogSource log, OptionalLong due) {
        List<String> found = new ArrayList<>();
        new PartitionAudit(new PartitionAudit.Job(log, topics, codec, 0, false), new PartitionAudit.Listener() {
            @Override
            public void found(Finding finding) {
                found.add(finding.toString());
            }

            @Override
            public void read(long records, long bytes) {}

            @Override
            public void fact(long offset, Fact decision) {}
        }).run(due, () -> {});
        return found;
    }

    /** A running cluster. When it goes on, each open of a topic follows a further tick and its decision. What an open topic shows does not grow. */
    private final class RunningLog implements LogSource {
        private final List<LogEntry> ticks = new ArrayList<>();
        private final List<LogEntry> decisions = new ArrayList<>();
        private int previousTick;
        private int previousDecision;
        private final boolean goesOn;

        RunningLog(boolean goesOn) {
            this.goesOn = goesOn;
        }

        private void tick() {
            int at = ticks.size();
            Tick tick = new Tick(new Envelope(CLOCK, CLOCK, 0, at + 1, previousTick, 5 + at, null, null, null), 5 + at);
            previousTick = RecordStamp.crc32cOfFramed(codec.encode(topics.events(), tick));
            ticks.add(new LogEntry.Data(at, 0, CLOCK.getBytes(StandardCharsets.UTF_8), codec.encode(topics.events(), tick)));
        }

        private void decide() {
            int at = decisions.size();
            TimeAdvanced advanced = new TimeAdvanced(
                    new Envelope(CLOCK, "controller/0", 0, at + 1, previousDecision, 5 + at, CLOCK + "@" + at, null, null), 5 + at, at + 1);
            previousDecision = RecordStamp.crc32cOfFramed(codec.encode(topics.decisions(), advanced));
            decisions.add(new LogEntry.Data(at, 0, CLOCK.getBytes(StandardCharsets.UTF_8), codec.encode(topics.decisions(), advanced)));
        }

        @Override
        public Stream open(String topic, int partition) {
            if (goesOn) {
                tick();
                decide();
            }
            List<LogEntry> entries = List.copyOf(topic.equals(topics.events()) ? ticks : decisions);
            return new MemoryLog().with(topic, entries).open(topic, partition);
        }

        @Override
        public Stream open(String topic, int partition, long from) {
            return new StreamFrom(open(topic, partition), from);
        }

        @Override
        public int partitions(String topic) {
            return 1;
        }

        @Override
        public Stream openAll(String topic) {
            return open(topic, 0);
        }

        @Override
        public boolean isLive() {
            return true;
        }

        @Override
        public boolean hasTopic(String topic) {
            return true;
        }

        @Override
        public void close() {}
    }

    @Test
    void aDecisionOfALaterMomentIsNoFinding() {
        assertEquals(List.of(), audit(new RunningLog(true), OptionalLong.empty()));
    }

    private Optional<Finding> atRest(RunningLog log, Verifier.Pause pause) throws InterruptedException {
        return new Verifier(log, topics, codec, new Verifier.Options(1, true, false, false), pause).verify().first();
    }

    /** The tick that comes meanwhile need not be decided. */
    @Test
    void atRestARunningClusterHasTimeToDecideWhatIsThere() throws Exception {
        RunningLog log = new RunningLog(false);
        log.tick();
        assertEquals(Optional.empty(), atRest(log, () -> {
            log.decide();
            log.tick();
        }));
        assertEquals("I6", atRest(log, () -> {}).orElseThrow().check());
    }

    @Test
    void theAggregateIsTheKey() {
        assertEquals(List.of(), audit(CLOCK, CLOCK));
    }

    @Test
    void anEventWithAWrongKeyIsReported() {
        assertEquals(List.of("BYTES tierlog.events-0@0: its key is clock/1, and it is about clock/0"), audit("clock/1", CLOCK));
        assertEquals(List.of("BYTES tierlog.events-0@0: its key is clock/00, and it is about clock/0"), audit("clock/00", CLOCK));
        assertEquals(List.of("BYTES tierlog.events-0@0: it has no key, and it is about clock/0"), audit(null, CLOCK));
    }

    @Test
    void aFactWithAWrongKeyIsReported() {
        assertEquals(List.of("BYTES tierlog.decisions-0@0: its key is clock/, and it is about clock/0"), audit(CLOCK, "clock/"));
    }
}
