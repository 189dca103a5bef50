/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.decision.TimeAdvanced;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Controllers of two core versions share a log on a real broker, as in a rolling upgrade. */
@Tag("slow")
class RollingUpgradeTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private static List<String> clocks(List<? extends Fact> facts) {
        return facts.stream().map(fact -> fact.envelope().aggregate()).sorted().toList();
    }

    /** The new build first keeps the old version, so that the old build can take over again; then it raises each partition once, on record. */
    @Test
    void theNewVersionEntersOnRecordAndTheOldOneStops() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            List<String> both = List.of("clock/0", "clock/1");
            ControllerConfig old = log.controller(directory.resolve("old")).coreVersion(CoreVersion.OLDEST).tickMs(50).build();
            try (ControllerApp _ = ControllerApp.start(old)) {
                TestLog.await("both partitions", () -> clocks(decisions.of(PartitionOpened.class)).equals(both));
            }
            log.forgetMembers(old.applicationId());
            decisions.of(PartitionOpened.class).forEach(opened -> assertEquals(CoreVersion.OLDEST, opened.coreVersion()));
            int before = decisions.of(TimeAdvanced.class).size();
            ControllerConfig kept = log.controller(directory.resolve("new")).coreVersion(CoreVersion.OLDEST).tickMs(50).build();
            try (ControllerApp _ = ControllerApp.start(kept)) {
                TestLog.await("decisions", () -> decisions.of(TimeAdvanced.class).size() > before);
            }
            log.forgetMembers(old.applicationId());
            assertEquals(List.of(), decisions.of(CoreVersionRaised.class), "core.version keeps the way back open");
            try (ControllerApp _ = ControllerApp.start(old)) {
                int back = decisions.of(TimeAdvanced.class).size();
                TestLog.await("the old one decides again", () -> decisions.of(TimeAdvanced.class).size() > back);
            }
            log.forgetMembers(old.applicationId());

            ControllerConfig raises = log.controller(directory.resolve("new")).tickMs(50).build();
            try (ControllerApp upgraded = ControllerApp.start(raises)) {
                TestLog.await("both are raised", () -> clocks(decisions.of(CoreVersionRaised.class)).equals(both));
                try (ControllerApp late = ControllerApp.start(old)) {
                    Throwable end = late.ended().get(60, TimeUnit.SECONDS).orElseThrow();
                    String message = String.valueOf(assertInstanceOf(ControllerException.LaterVersion.class, end).getMessage());
                    assertTrue(message.contains("decided by core version " + CoreVersion.CURRENT) && message.contains("core.version"), message);
                }
                int then = decisions.of(TimeAdvanced.class).size();
                TestLog.await("the new one goes on with both", () ->
                        clocks(decisions.of(TimeAdvanced.class).stream().skip(then).toList()).containsAll(both));
                assertFalse(upgraded.ended().isDone());
            }
            assertEquals(both, clocks(decisions.of(CoreVersionRaised.class)), "raised once");
            decisions.assertChained();
        }
    }
}
