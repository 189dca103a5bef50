/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Attacks on processes: their files, their directories, their connections. */
@Timeout(900)
class ProcessAttack {
    /** To each of three ports. */
    private static final int CONNECTIONS = 3_400;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    private static List<Path> files(Path under, String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(under)) {
            return all.filter(file -> file.getFileName().toString().endsWith(suffix)).sorted(Comparator.naturalOrder()).toList();
        }
    }

    /** Point 2.9: every table file of the state is damaged. The state is set aside and restored, once, without help. */
    @Test
    void damagedStateIsSetAsideAndRestored() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            EngineCalls engine = scene.own(new EngineCalls(directory, scene.agent("a").port()));
            engine.awaitMore();
            controller.process().close();
            List<Path> tables = new ArrayList<>(files(directory.resolve("state"), ".sst"));
            tables.addAll(files(directory.resolve("state"), "CURRENT"));
            assertFalse(tables.isEmpty());
            for (Path table : tables) {
                try (RandomAccessFile file = new RandomAccessFile(table.toFile(), "rw")) {
                    file.write("damaged, damaged, damaged".getBytes(StandardCharsets.UTF_8));
                }
            }

            int decided = scene.decisions();
            AttackScene.Controller again = scene.controller("state");
            scene.awaitMoreThan(decided);
            assertTrue(again.process().isAlive());
            assertFalse(files(directory.resolve("state/corrupt-state"), "").isEmpty(), "the damaged files are kept");
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }

    /** Point 2.14: the state directory of an hour ago comes back from a backup. */
    @Test
    void anOlderStateDirectoryIsBroughtUpToDate() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            EngineCalls engine = scene.own(new EngineCalls(directory, scene.agent("a").port()));
            engine.awaitMore();
            controller.process().close();
            copy(directory.resolve("state"), directory.resolve("older"));
            AttackScene.Controller second = scene.controller("state");
            engine.awaitMore();
            engine.awaitMore();
            second.process().close();

            int decided = scene.decisions();
            scene.controller("older");
            scene.awaitMoreThan(decided);
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }

    /** Points 2.13 and 2.14: a directory that cannot be used is named with its cause, before anything else happens. */
    @Test
    void directoriesThatCannotBeUsedAreNamed() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            Path file = Files.writeString(directory.resolve("a-file"), "");
            AttackScene.Ended state = scene.ended("controller-a-file", scene.controllerProcess("a-file"));
            assertEquals(2, state.code(), state::text);
            assertTrue(state.text().contains(file.toString()) && state.text().contains("hint:"), state::text);

            AttackScene.Ended proc = scene.run("controller", "--bootstrap-servers", scene.access.bootstrapServers(), "--state-dir", "/proc/x",
                    "--http-port", "0", "--api-listen", "none", "--no-directory");
            assertEquals(2, proc.code(), proc::text);
            assertTrue(proc.text().contains("/proc/x"), proc::text);

            AttackScene.Ended disk = scene.ended("agent-d", scene.agentProcess("d", "--disk", "/proc/disk", "--disk-size", "64blocks"));
            assertEquals(2, disk.code(), disk::text);
            assertTrue(disk.text().contains("/proc/disk"), disk::text);
        }
    }

    /** Point 2.10: the disk tier is larger than what its file system holds. */
    @Test
    void aDiskTierLargerThanItsFileSystemIsRefused() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Ended ended = scene.ended("agent-d",
                    scene.agentProcess("d", "--disk", directory.resolve("disk").toString(), "--disk-size", "1PiB"));
            assertEquals(2, ended.code(), ended::text);
            assertTrue(ended.text().contains("disk") && ended.text().contains("hint:"), ended::text);
        }
    }

    /** Point 2.11: clients that connect and say nothing, half a request, or garbage. */
    @Test
    void idleConnectionsDoNotHideHealth() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            for (int port : List.of(URI.create(controller.http()).getPort(), URI.create(controller.api()).getPort(), agent.port())) {
                for (int i = 0; i < CONNECTIONS; i++) {
                    try {
                        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                        sockets.add(socket);
                        if (i % 3 == 1) {
                            socket.getOutputStream().write("GET /health HTTP/1.1\r\nHost: 127".getBytes(StandardCharsets.UTF_8));
                        } else if (i % 3 == 2) {
                            socket.getOutputStream().write(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9});
                        }
                    } catch (IOException e) {
                        break; // the server takes no more, which is its right
                    }
                }
            }
            long start = System.nanoTime();
            AttackScene.await("/health answers", () -> !scene.get(controller.http() + "/health").isEmpty());
            long tookMs = (System.nanoTime() - start) / 1_000_000;
            System.out.println("/health answered after " + tookMs + " ms with " + sockets.size() + " idle connections: "
                    + scene.get(controller.http() + "/health"));
            assertTrue(tookMs < 5_000, () -> "/health took " + tookMs + " ms");
            engine.awaitMore();
            assertTrue(scene.said("agent-a", "\tat ") < 50, "a stack trace for each bad connection");
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    /** Point 2.14: two controllers are stopped and started again in turns, as an upgrade does, while requests come. */
    @Test
    void aRollingRestartLosesNothing() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller first = scene.controller("first");
            AttackScene.Controller second = scene.controller("second");
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            for (int round = 0; round < 2; round++) {
                first = restarted(scene, first, "first", engine);
                second = restarted(scene, second, "second", engine);
            }
            assertTrue(agent.process().isAlive());
            assertEquals(0, engine.failed(), engine::lastFailure);
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }

    private static AttackScene.Controller restarted(AttackScene scene, AttackScene.Controller running, String state, EngineCalls engine)
            throws InterruptedException {
        running.process().close();
        scene.awaitMoreThan(scene.decisions());
        engine.awaitMore();
        AttackScene.Controller again = scene.controller(state);
        scene.awaitMoreThan(scene.decisions());
        return again;
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path file : (Iterable<Path>) all::iterator) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }
}
