/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Point 2.14: directories that become full or read-only while the process works in them. */
@Timeout(600)
class DirectoryAttack {
    private static final String NOT_WRITTEN = "cannot be written";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    private static boolean isNamed(AttackScene scene, AttackScene.Controller controller) {
        return scene.get(controller.http() + "/health").contains(NOT_WRITTEN);
    }

    @Test
    void aStateDirectoryThatIsFullOrReadOnlyIsNamedAndNothingIsLost() throws Exception {
        try (SmallFileSystem state = new SmallFileSystem(directory.resolve("state"), 48);
                AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            EngineCalls engine = scene.own(new EngineCalls(directory, scene.agent("a").port()));
            engine.awaitMore();

            state.fill();
            AttackScene.await("/health names the full directory", () -> isNamed(scene, controller));
            String metrics = scene.get(controller.http() + "/metrics");
            assertTrue(metrics.contains("tierlog_directory_writable{directory=\"state\"} 0.0"), metrics);
            assertEquals(1, scene.said("controller-state", NOT_WRITTEN));
            scene.awaitMoreThan(scene.decisions());
            state.drain();
            AttackScene.await("/health is well again", () -> !isNamed(scene, controller));

            state.readOnly();
            AttackScene.await("/health names the directory that can only be read", () -> isNamed(scene, controller));
            assertEquals(2, scene.said("controller-state", NOT_WRITTEN));
            scene.awaitMoreThan(scene.decisions());
            engine.awaitMore();
            controller.process().close(); // it cannot write what it has in memory
            state.writable();

            scene.controller("state");
            scene.awaitMoreThan(scene.decisions());
            engine.awaitMore();
            assertEquals(0, engine.failed(), engine::lastFailure);
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }

    /** The broker ends, as Kafka does without a log directory. Engines go on, and so does all else when it is back with some space. */
    @Test
    void aLogDirectoryThatIsFullStopsTheBrokerAndLosesNothing() throws Exception {
        try (SmallFileSystem log = new SmallFileSystem(directory.resolve("broker"), 64);
                AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            log.fill();
            AttackScene.await("/health names the log directory or brokers that do not answer", () -> {
                String health = scene.get(controller.http() + "/health");
                return health.contains("log directory") || health.contains("\"part\":\"brokers\",\"level\":\"DEGRADED\"");
            });
            AttackScene.await("the broker has ended", () -> !scene.brokerIsAlive());
            engine.awaitMore();
            log.drain();
            scene.restartBroker();
            int decided = scene.decisions();
            scene.awaitMoreThan(decided);
            assertTrue(agent.process().isAlive());
            assertTrue(controller.process().isAlive());
            AttackScene.await("/health is well", () -> scene.get(controller.http() + "/health").contains("\"health\":\"WELL\""));
            assertEquals(0, engine.failed(), engine::lastFailure);
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }
}
