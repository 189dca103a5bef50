/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Reading;
import io.tierlog.schemas.decision.Decision;
import io.tierlog.schemas.decision.TimeAdvanced;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A controller in this process on a real broker. */
class ControllerAppTest {
    @TempDir
    Path directory;

    @Test
    void timePassesByTicksThatItAppendsItself() throws Exception {
        try (TestLog log = new TestLog(directory, 2);
                ControllerApp app = ControllerApp.start(log.controller(directory.resolve("state")).tickMs(100).build());
                LogReader<Decision> decisions = log.reader(log.topics.decisions(), Decision.class, Isolation.COMMITTED)) {
            assertTrue(app.awaitRunning(TestLog.PATIENCE));
            List<TimeAdvanced> times = new ArrayList<>();
            TestLog.await("five times", () -> {
                decisions.readToEnd(entry -> {
                    if (entry.reading() instanceof Reading.Decoded<Decision> d && d.value() instanceof TimeAdvanced time) {
                        times.add(time);
                    }
                });
                return times.size() >= 5;
            });
            assertEquals("RUNNING", app.state());
        }
    }
}
