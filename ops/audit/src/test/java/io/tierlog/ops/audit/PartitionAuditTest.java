/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.TimeAdvanced;
import io.tierlog.schemas.event.Tick;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A tick and its fact, each with its aggregate as the key, or with another key. */
class PartitionAuditTest {
    private static final String CLOCK = "clock/0";

    private final Codec codec = new Codec(Schemas.bundled());

    private LogEntry record(String topic, @Nullable String key, WireRecord value) {
        return new LogEntry.Data(0, 0, key == null ? null : key.getBytes(StandardCharsets.UTF_8), codec.encode(topic, value));
    }

    private List<String> audit(@Nullable String keyOfEvent, @Nullable String keyOfDecision) {
        Topics topics = Topics.DEFAULT;
        Tick tick = new Tick(new Envelope(CLOCK, CLOCK, 0, 1, 0, 5, null, null, null), 5);
        TimeAdvanced advanced = new TimeAdvanced(new Envelope(CLOCK, "controller/0", 0, 1, 0, 5, CLOCK + "@0", null, null), 5, 1);
        LogSource log = new MemoryLog()
                .with(topics.events(), List.of(record(topics.events(), keyOfEvent, tick)))
                .with(topics.decisions(), List.of(record(topics.decisions(), keyOfDecision, advanced)));
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
        }).run(true);
        return found;
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
