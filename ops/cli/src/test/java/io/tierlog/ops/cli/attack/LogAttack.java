/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.tierlog.events.Partitions;
import io.tierlog.events.topic.Topics;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.ops.cli.LogFacts;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentStopping;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attacks on the log itself: forged records, a second controller, deleted topics, a broker that dies. */
class LogAttack {
    private static final String NODE = "node/a";
    /** Differences of a p99 that only a busy machine makes, in microseconds. */
    private static final long FLOOR_MICROS = 3_000;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    private static <F extends Fact> Stream<F> facts(AttackScene scene, Class<F> type) {
        return LogFacts.read(scene.access).stream().filter(type::isInstance).map(type::cast);
    }

    private static AgentAccepted accepted(AttackScene scene) {
        return facts(scene, AgentAccepted.class).reduce((first, last) -> last).orElseThrow();
    }

    /** Point 2.1: another application id on the log of a controller that decides, and another process of a node that has one. */
    @Test
    void aSecondControllerIsRefusedAtItsStart() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller first = scene.controller("first");
            EngineCalls engine = scene.own(new EngineCalls(directory, scene.agent("a").port()));
            engine.awaitMore();

            AttackScene.Ended second = scene.ended("controller-second", scene.controllerProcess("second", "--application-id", "other"));
            assertEquals(2, second.code(), second::text);
            assertTrue(second.text().contains("tierlog-controller") && second.text().contains("hint:"), second::text);
            AttackScene.Ended twin = scene.ended("twin-a", scene.twinProcess("a"));
            assertEquals(2, twin.code(), twin::text);
            assertTrue(twin.text().contains("--node") && twin.text().contains("hint:"), twin::text);
            engine.awaitMore();
            assertTrue(first.process().isAlive());
            engine.close();
            scene.assertLogHolds();
        }
    }

    /** Points 2.5 and 2.6: what was forged is refused on record, and the node goes on. */
    @Test
    void forgedRecordsAreRefusedAndTheNodeGoesOn() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            scene.controller("state");
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            AgentAccepted now = accepted(scene);
            String sender = "agent/a/" + now.processId();
            Forger forger = scene.own(new Forger(scene.access));
            String events = Topics.DEFAULT.events();
            forger.append(events, NODE, new AgentStopping(
                    new Envelope(NODE, "agent/a/forged", now.newIncarnation(), 9_000_000, 0, 0, null, null, null), "forged"));
            forger.append(events, NODE, new AgentHeartbeat(
                    new Envelope(NODE, sender, now.newIncarnation(), 9_000_000, 0, 0, null, null, null), List.of(), 0, 0, 0));
            forger.append(events, NODE, new AgentHeartbeat(
                    new Envelope(NODE, sender, now.newIncarnation() + 7, 1, 0, 0, null, null, null), List.of(), 0, 0, 0));
            forger.append(events, 0, NODE.getBytes(StandardCharsets.UTF_8), "no record".getBytes(StandardCharsets.UTF_8));
            for (RefusalReason reason : List.of(RefusalReason.WRONG_SENDER, RefusalReason.SEQUENCE_GAP, RefusalReason.FUTURE_INCARNATION)) {
                AttackScene.await(reason + " is on record", () -> facts(scene, InputRefused.class).anyMatch(f -> f.reason() == reason));
            }
            AttackScene.await("the bytes are skipped on record", () -> facts(scene, InputSkipped.class).findAny().isPresent());
            assertEquals(now, accepted(scene), "the epoch goes on");
            engine.awaitMore();

            forger.append(Topics.DEFAULT.commands(), NODE, new ReleasePins(
                    new Envelope(NODE, "controller/0", now.newIncarnation(), 1, 0, 0, null, null, null), new CommandHeader("forged", Long.MAX_VALUE),
                    "no-lease"));
            AttackScene.await("the heartbeat shows it",
                    () -> facts(scene, InputRefused.class).anyMatch(f -> f.reason() == RefusalReason.FUTURE_COMMAND));
            AttackScene.await("the process registers again", () -> accepted(scene).newIncarnation() == now.newIncarnation() + 1);
            assertEquals(now.processId(), accepted(scene).processId());
            assertTrue(agent.process().isAlive());
            engine.awaitMore();
        }
    }

    /** Points 2.2 and 2.3: {@code kill -9} of the broker under load. {@code -Dtierlog.outage=SECONDS} sets how long it stays away. */
    @Test
    void aBrokerThatDiesDoesNotSlowEngineCalls() throws Exception {
        long awayS = Long.getLong("tierlog.outage", 60);
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            AttackScene.Directory index = scene.directoryProcess();
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            AttackScene.letPass(10);
            engine.p99Micros(); // cold code
            long quiet = engine.requests();
            AttackScene.letPass(20);
            long before = engine.p99Micros();
            long rate = (engine.requests() - quiet) / 20;
            long failedBefore = engine.failed();

            scene.killBroker();
            long requests = engine.requests();
            AttackScene.letPass(awayS);
            long away = engine.p99Micros();
            long served = engine.requests() - requests;
            System.out.println("engine calls: p99 " + before + " us, " + away + " us with the broker away for " + awayS + " s, " + served
                    + " requests, " + (engine.failed() - failedBefore) + " failed: " + engine.lastFailure());
            assertTrue(agent.process().isAlive());
            assertTrue(away <= Math.max(before * 6 / 5, before + FLOOR_MICROS), "calls are slower without the broker");
            assertTrue(served * 2 > awayS * rate, () -> served + " requests in " + awayS + " s, " + rate + " a second before");
            assertEquals(failedBefore, engine.failed(), engine::lastFailure);
            scene.awaitPart(controller.http(), "brokers", "DEGRADED");
            assertTrue(scene.said("controller-state", "the log is not watched for now") >= 1);
            scene.awaitPart(index.status(), "follower", "DEGRADED");
            assertTrue(scene.said("directory", "the end of tierlog.placements cannot be looked at") >= 1);
            assertTrue(scene.said("agent-a", "events is ") >= 1, "each part of /health that is in the log is a metric too");

            scene.restartBroker();
            int decided = scene.decisions();
            engine.awaitMore();
            scene.awaitMoreThan(decided);
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }

    /** Point 2.4, for every topic that can be made again without a loss of history. */
    @Test
    void aDeletedTopicIsNamedAndTheRestGoesOn() throws Exception {
        deleted(Topics.DEFAULT.commands(), Topics.DEFAULT.messages(), Topics.DEFAULT.deadLetters());
    }

    private void deleted(String... topics) throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            EngineCalls engine = scene.own(new EngineCalls(directory, scene.agent("a").port()));
            engine.awaitMore();
            Forger forger = scene.own(new Forger(scene.access));
            for (String topic : topics) {
                long named = scene.said("controller-state", "topics create");
                forger.delete(topic);
                AttackScene.await("/health names " + topic, () -> scene.get(controller.http() + "/health").contains(topic));
                scene.awaitPart(controller.http(), "log", "FAILED");
                assertEquals(named + 1, scene.said("controller-state", "topics create"));
                long warnings = scene.said("controller-state", "WARN");
                AttackScene.letPass(10);
                assertTrue(scene.said("controller-state", "WARN") - warnings < 30, "warnings are not limited");
                AttackScene.Ended made = scene.run("topics", "create", "--bootstrap-servers", scene.access.bootstrapServers(), "--partitions",
                        String.valueOf(AttackScene.PARTITIONS));
                assertEquals(0, made.code(), made::text);
                AttackScene.await("/health is well", () -> !scene.get(controller.http() + "/health").contains(topic));
                engine.awaitMore();
            }
        }
    }

    /** Point 2.14: what directories read is deleted and made again. It is named; decisions and engines go on. */
    @Test
    void deletedPlacementsAreNamedAndTheRestGoesOn() throws Exception {
        deleted(Topics.DEFAULT.placements());
    }

    /** Point 2.14: the changelog is deleted. The state is on the disk, so the controller may go on; it must not decide from nothing. */
    @Test
    void aDeletedChangelogIsNotDecidedAgain() throws Exception {
        String changelog = "tierlog-controller-rows-changelog";
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            EngineCalls engine = scene.own(new EngineCalls(directory, scene.agent("a").port()));
            engine.awaitMore();
            Forger forger = scene.own(new Forger(scene.access));
            String found = forger.topics().stream().filter(topic -> topic.endsWith("-changelog")).findAny().orElse(changelog);
            controller.process().close();
            int decided = scene.decisions();
            forger.delete(found);
            AttackScene.Ended again = scene.ended("controller-fresh", scene.controllerProcess("fresh"));
            assertEquals(1, again.code(), again::text);
            assertTrue(again.text().contains("snapshot restore") && again.text().contains("--topic-prefix"), again::text);
            assertEquals(decided, scene.decisions(), "nothing was decided");
            engine.awaitMore();
        }
    }

    /** Point 2.14: the offsets of the groups are lost, as those of a controller that was off for longer than they are kept. */
    @Test
    void lostGroupOffsetsLoseAndRepeatNothing() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            EngineCalls engine = scene.own(new EngineCalls(directory, scene.agent("a").port()));
            engine.awaitMore();
            controller.process().close();
            Forger forger = scene.own(new Forger(scene.access));
            List<String> groups = forger.groups();
            assertTrue(groups.contains("tierlog-controller") && groups.contains("tierlog-controller-relay"), groups::toString);
            AttackScene.await("their members have left", () -> forger.forgetOffsets(groups));
            scene.controller("state");
            scene.awaitMoreThan(scene.decisions());
            engine.awaitMore();
            engine.close();
            AttackScene.letPass(5);
            scene.assertLogHolds();
        }
    }

    /** Point 2.14: valid decisions and placements that no controller made. They stop nothing, and are named. */
    @Test
    void forgedDecisionsAndPlacementsStopNothingAndAreNamed() throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            AttackScene.Directory index = scene.directoryProcess();
            AttackScene.Agent first = scene.agent("a"); // the records of its next incarnation are later than the first, which is repeated below
            AttackScene.await("its first incarnation is accepted", () -> facts(scene, AgentAccepted.class).findAny().isPresent());
            first.process().close();
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            AttackScene.await("its second incarnation is accepted", () -> accepted(scene).newIncarnation() == 2);
            Forger forger = scene.own(new Forger(scene.access));
            forger.repeatFirst(Topics.DEFAULT.placements());
            AttackScene.await("the directory names it",
                    () -> scene.get(index.status() + "/health").contains("\"part\":\"records\",\"level\":\"DEGRADED\""));
            controller.process().close();
            AgentAccepted now = accepted(scene);
            Envelope forged = new Envelope(NODE, "controller/0", now.newIncarnation() + 1, 9_000_000, 0, 0, null, null, null);
            forger.append(Topics.DEFAULT.decisions(), NODE, new NodeEnded(forged, now.newIncarnation(), RemovalReason.NODE_LOST));
            AttackScene.Controller again = scene.controller("state");
            scene.awaitMoreThan(scene.decisions());
            AttackScene.await("/health names it",
                    () -> scene.get(again.http() + "/health").contains("\"part\":\"log\",\"level\":\"DEGRADED\""));
            engine.awaitMore();
            assertTrue(agent.process().isAlive());
            engine.close();
            AttackScene.letPass(5);
            AttackScene.Ended verified = scene.run("audit", "verify", "--bootstrap-servers", scene.access.bootstrapServers());
            assertEquals(1, verified.code(), verified::text);
        }
    }

    /** Records with a schema that only a registry knows, which is away. When it is back, they turn out to be no records of the log. */
    @Test
    void aRegistryThatIsAwayIsWaitedForAndWhatIsNoRecordIsNamed() throws Exception {
        try (SwitchedRegistry registry = new SwitchedRegistry();
                AttackScene scene = new AttackScene(directory)) {
            String[] known = {"--registry-url", registry.url()};
            AttackScene.Controller controller = scene.controller("state", known);
            AttackScene.Directory index = scene.directoryProcess(known);
            AttackScene.Agent agent = scene.agent("a", known);
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            registry.setUp(false);
            Forger forger = scene.own(new Forger(scene.access));
            byte[] strange = WireFormat.frame(SwitchedRegistry.STRANGE, new byte[] {1});
            for (String topic : List.of(Topics.DEFAULT.events(), Topics.DEFAULT.commands(), Topics.DEFAULT.placements())) {
                forger.append(topic, Partitions.of(NODE, AttackScene.PARTITIONS), Partitions.key(NODE), strange);
            }
            scene.awaitPart(controller.http(), "registry", "FAILED");
            assertEquals(1, scene.said("controller-state", "waiting for the schema registry"));
            scene.awaitPart(index.status(), "registry", "FAILED");
            assertEquals(1, scene.said("directory", "waiting for the schema registry"));
            scene.awaitPart(agent.status(), "commands", "FAILED");
            assertTrue(scene.said("agent-a", "waits for the registry") >= 1);
            AttackScene.await("one line names the thread that waits", () -> said(scene, "agent-a", "commands is FAILED at /health") == 1);
            engine.awaitMore();

            registry.setUp(true);
            scene.awaitPart(agent.status(), "commands", "WELL");
            scene.awaitPart(agent.status(), "records", "DEGRADED");
            scene.awaitMetric(agent.status(), "tierlog_agent_commands_unreadable_total 1.0");
            assertEquals(1, scene.said("agent-a", "cannot be read: "));
            scene.awaitPart(index.status(), "registry", "WELL");
            scene.awaitPart(index.status(), "records", "DEGRADED");
            scene.awaitMetric(index.status(), "tierlog_directory_unreadable_records_total 1.0");
            assertEquals(1, scene.said("directory", "a record is passed over: "));
            scene.awaitPart(controller.http(), "registry", "WELL");
            scene.awaitPart(controller.http(), "records", "DEGRADED");
            AttackScene.await("it is counted", () -> scene.get(controller.http() + "/metrics").lines()
                    .anyMatch(line -> line.startsWith("tierlog_inputs_skipped_total") && line.endsWith(" 1.0")));
            assertTrue(scene.said("controller-state", "is in the dead letters: ") >= 1);
            engine.awaitMore();
        }
    }

    private static long said(AttackScene scene, String name, String text) {
        try {
            return scene.said(name, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Point 2.14: a registry that gives one id for all schemas. Nothing is written with it. */
    @Test
    void aRegistryThatLiesIsRefused() throws Exception {
        HttpServer lying = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        lying.createContext("/", exchange -> {
            byte[] answer = (exchange.getRequestMethod().equals("GET") ? "{\"schema\":\"\\\"string\\\"\"}" : "{\"id\":1}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        lying.start();
        try (AttackScene scene = new AttackScene(directory)) {
            String url = "http://127.0.0.1:" + lying.getAddress().getPort();
            AttackScene.Ended controller = scene.ended("controller-state", scene.controllerProcess("state", "--registry-url", url));
            assertTrue(controller.code() > 0 && controller.text().contains("--registry-url"), controller::text);
            AttackScene.Ended agent = scene.ended("agent-a", scene.agentProcess("a", "--registry-url", url));
            assertTrue(agent.code() > 0 && agent.text().contains("--registry-url"), agent::text);
            assertEquals(0, scene.decisions());
        } finally {
            lying.stop(0);
        }
    }

    /** Point 2.14: the topics that are the log itself are deleted and made again. No controller decides on it, and engines go on. */
    @ParameterizedTest
    @ValueSource(strings = {"tierlog.events", "tierlog.decisions"})
    void aLogThatWasDeletedIsNotDecidedAgain(String topic) throws Exception {
        try (AttackScene scene = new AttackScene(directory)) {
            AttackScene.Controller controller = scene.controller("state");
            AttackScene.Agent agent = scene.agent("a");
            EngineCalls engine = scene.own(new EngineCalls(directory, agent.port()));
            engine.awaitMore();
            Forger forger = scene.own(new Forger(scene.access));
            forger.delete(topic);
            AttackScene.await("/health names it", () -> scene.get(controller.http() + "/health").contains(topic));
            if (topic.equals(Topics.DEFAULT.events())) {
                scene.awaitPart(agent.status(), "events", "DEGRADED");
                AttackScene.await("a line names it", () -> said(scene, "agent-a", "events is DEGRADED at /health") >= 1);
            }
            engine.awaitMore();
            controller.process().close();
            AttackScene.Ended made = scene.run("topics", "create", "--bootstrap-servers", scene.access.bootstrapServers(), "--partitions",
                    String.valueOf(AttackScene.PARTITIONS));
            assertEquals(0, made.code(), made::text);
            AttackScene.Ended again = scene.ended("controller-state", scene.controllerProcess("state"));
            assertEquals(1, again.code(), again::text);
            assertTrue(again.text().contains(topic) && again.text().contains("--topic-prefix"), again::text);
            long failed = engine.failed();
            engine.awaitMore();
            assertEquals(failed, engine.failed(), engine::lastFailure);
        }
    }
}
