/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tierlog.ops.cli.LogFacts;
import io.tierlog.schemas.decision.TimeAdvanced;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Point 2.14: the system clock of one process is set forward by five hours while it works, and back again. */
@Timeout(600)
class ClockAttack {
    private static final Duration FIVE_HOURS = Duration.ofHours(5);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    private static long logTimeMs(AttackScene scene) {
        return LogFacts.read(scene.access).stream().filter(TimeAdvanced.class::isInstance).map(TimeAdvanced.class::cast)
                .mapToLong(TimeAdvanced::logTimeMs).max().orElseThrow();
    }

    private static void awaitLogTime(AttackScene scene) {
        AttackScene.await("a tick is decided", () -> LogFacts.read(scene.access).stream().anyMatch(TimeAdvanced.class::isInstance));
    }

    private static void assertGoesOn(AttackScene scene, AttackScene.Controller controller, EngineCalls engine) {
        scene.awaitMoreThan(scene.decisions());
        engine.awaitMore();
        AttackScene.await("/health is well", () -> scene.get(controller.http() + "/health").contains("\"health\":\"WELL\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"agent-a", "broker"})
    void aClockThatIsSetForwardAndBackStopsNothing(String process) throws Exception {
        assumeTrue(FakeClocks.exist(), "libfaketime is not installed");
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            for (Duration ahead : new Duration[] {FIVE_HOURS, Duration.ZERO}) {
                scene.clocks.set(process, ahead);
                AttackScene.letPass(15);
                assertGoesOn(scene, controller, engine);
                assertTrue(agent.process().isAlive());
            }
            if (process.equals("agent-a")) {
                assertTrue(scene.said(process, "the system clock was set back by ") >= 1);
                AttackScene.await("it is counted", () -> scene.get(agent.status() + "/metrics").lines()
                        .anyMatch(line -> line.startsWith("tierlog_agent_rejoined_total ") && !line.endsWith(" 0.0")));
            }
            assertTrue(logTimeMs(scene) < System.currentTimeMillis() + 60_000, "log time is the time");
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }

    /** Set back, a directory ends and reports why, as a controller does. */
    @Test
    void aDirectorysClockThatIsSetBackEndsIt() throws Exception {
        assumeTrue(FakeClocks.exist(), "libfaketime is not installed");
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Directory index = scene.directoryProcess();
            scene.clocks.set("directory", FIVE_HOURS);
            AttackScene.letPass(5);
            assertTrue(index.process().isAlive());
            scene.clocks.set("directory", Duration.ZERO);
            AttackScene.Ended ended = scene.ended("directory", index.process());
            assertEquals(1, ended.code(), ended::text);
            assertTrue(ended.text().contains("Kafka's clients would stand still for as long: start again"), ended::text);
        }
    }

    /** Set back, the controller ends and says why: Kafka's clients would stand still for five hours. Started again it goes on. */
    @Test
    void aControllersClockThatIsSetForwardAndBackCostsARestart() throws Exception {
        assumeTrue(FakeClocks.exist(), "libfaketime is not installed");
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            awaitLogTime(scene);
            long before = logTimeMs(scene);
            long startNs = System.nanoTime();
            scene.clocks.set("controller-state", FIVE_HOURS);
            AttackScene.letPass(15);
            assertGoesOn(scene, controller, engine);
            long passedMs = Duration.ofNanos(System.nanoTime() - startNs).toMillis();
            assertTrue(logTimeMs(scene) - before < 2 * passedMs + 5_000, "log time jumps");

            scene.clocks.set("controller-state", Duration.ZERO);
            AttackScene.Ended ended = scene.ended("controller-state", controller.process());
            assertEquals(1, ended.code(), ended::text);
            assertTrue(ended.text().contains("clock was set back"), ended::text);
            AttackScene.Controller again = scene.controller("state");
            assertGoesOn(scene, again, engine);
            assertTrue(agent.process().isAlive());
            assertEquals(0, engine.failed(), engine::lastFailure);
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }
}
