/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.decision.Fact;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The decisions of a log. */
public final class LogFacts {
    private LogFacts() {}

    /** All committed decisions by now, however long that takes, and on until half a second brings no more, or for 10 s. */
    public static List<Fact> read(KafkaAccess access) {
        List<Fact> all = new ArrayList<>();
        try (LogReader<Fact> reader = new LogReader<>(access, new Codec(Schemas.bundled()),
                new LogReader.Source<>(Topics.DEFAULT.decisions(), Fact.class, LogReader.Isolation.COMMITTED))) {
            Consumer<LogReader.Entry<Fact>> each = entry -> {
                if (entry.reading() instanceof Reading.Decoded<Fact>(Fact decision)) {
                    all.add(decision);
                }
            };
            reader.readToEnd(each);
            long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            long quietNs = System.nanoTime();
            while (System.nanoTime() - quietNs < TimeUnit.MILLISECONDS.toNanos(500) && System.nanoTime() < endNs) {
                int before = all.size();
                reader.poll(Duration.ofMillis(50), each);
                quietNs = all.size() > before ? System.nanoTime() : quietNs;
            }
        }
        return all;
    }
}
