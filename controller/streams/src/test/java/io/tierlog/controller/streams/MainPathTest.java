/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Reading;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeSeen;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.directory.Published;
import io.tierlog.schemas.event.Event;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A controller, a broker and an agent that executes every command; then with kills. */
@Tag("slow")
class MainPathTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path state;

    @ParameterizedTest
    @EnumSource
    void aRequestIsFetchedWrittenBackAndBackedUp(CommandDelivery delivery) throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 2);
                ControllerApp app = ControllerApp.start(log.controller(state).commands(delivery).build());
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                LogReader<Command> commandReader = log.reader(log.topics.commands(), Command.class, Isolation.ALL);
                LogReader<Published> directoryReader = log.reader(log.topics.placements(), Published.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            FakeAgent agent = registered(log, decisions, "a");
            List<Command> commands = new ArrayList<>();

            // The store has 5 of 8 blocks: they are fetched, the other 3 are computed, written back and backed up.
            FakeAgent.Prompt prompt = new FakeAgent.Prompt(1, 8);
            log.append(agent.attached());
            log.append(agent.submitted("r", prompt, 5));
            TestLog.await("the prefetch", () -> obey(log, commandReader, agent, commands) && !commands.isEmpty());
            assertEquals(5, ((PrefetchBlocks) commands.getFirst()).blocks().size());
            agent.prefilledSealedFinished("r", prompt, 5).forEach(log::append);
            TestLog.await("three operations", () -> obey(log, commandReader, agent, commands) && decisions.of(OperationEnded.class).size() == 3);

            List<OperationEnded> ended = decisions.of(OperationEnded.class);
            assertEquals(
                    List.of(OperationKind.PREFETCH, OperationKind.WRITE_BACK, OperationKind.BACK_UP),
                    ended.stream().map(OperationEnded::kind).toList());
            assertTrue(ended.stream().allMatch(end -> end.state() == OperationState.DONE), ended.toString());
            assertEquals(RequestState.FINISHED, decisions.of(RequestTransitioned.class).getLast().to());
            decisions.assertChained();
            Map<String, Set<Integer>> held = new HashMap<>();
            Set<Integer> found = new HashSet<>();
            TestLog.await("the directory", () -> {
                directoryReader.readToEnd(entry -> {
                    if (entry.reading() instanceof Reading.Decoded<Published>(NodeEpoch life) && life.node().equals("a") && life.alive()) {
                        assertEquals("node/a", StandardCharsets.UTF_8.decode(Objects.requireNonNull(entry.key()).asByteBuffer()).toString());
                        found.add(entry.partition());
                    }
                    if (entry.reading() instanceof Reading.Decoded<Published> good && good.value() instanceof Placement p) {
                        held.computeIfAbsent(p.tier() + " " + p.location(), _ -> new HashSet<>()).add(p.block().index());
                    }
                });
                return held.getOrDefault(Tier.HOST + " node/a", Set.of()).size() == 8
                        && held.getOrDefault(Tier.STORE + " store/0", Set.of()).size() == 3;
            });
            assertEquals(Set.of(0, 1), found, "partitions with the incarnation of a");
            assertEquals("RUNNING", app.state());
        }
    }

    @Test
    void killedAndStartedAgainItLosesNothingAndRepeatsNothing() throws Exception {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            ControllerProcess.Settings settings = new ControllerProcess.Settings(log, state, 200);
            int beats = 0;
            try (ControllerProcess first = new ControllerProcess(settings, ControllerProcess.SHORT_LIVED)) {
                FakeAgent agent = registered(log, decisions, "a");
                for (int kills = 0; kills < 2; kills++) {
                    int before = decisions.of(NodeSeen.class).size();
                    ControllerProcess running = kills == 0 ? first : new ControllerProcess(settings, ControllerProcess.SHORT_LIVED);
                    // Killed while it is at work: some of these are decided, some not, some in an open transaction.
                    while (decisions.of(NodeSeen.class).size() < before + 200) {
                        for (int i = 0; i < 50; i++, beats++) {
                            log.append(agent.heartbeat());
                        }
                    }
                    for (int i = 0; i < 300; i++, beats++) {
                        log.append(agent.heartbeat());
                    }
                    running.kill();
                    for (int i = 0; i < 100; i++, beats++) {
                        log.append(agent.heartbeat());
                    }
                }
            }
            int all = beats;
            try (ControllerProcess last = new ControllerProcess(settings, ControllerProcess.SHORT_LIVED)) {
                TestLog.await("every heartbeat", () -> decisions.of(NodeSeen.class).size() >= all);
                decisions.assertChained();
                assertEquals(all, decisions.of(NodeSeen.class).size());
                assertTrue(last.isAlive());
            }
        }
    }

    @Test
    void aMillionPlacementsOfOneNodeFitInASmallHeap() throws Exception {
        int events = 1_000;
        int blocks = 1_000;
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED)) {
            Decisions decisions = new Decisions(reader);
            ControllerProcess.Settings settings = new ControllerProcess.Settings(log, state, 1_000);
            try (ControllerProcess controller = new ControllerProcess(settings, "-Xmx128m", "-XX:+ExitOnOutOfMemoryError",
                    "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")) {
                FakeAgent agent = registered(log, decisions, "a");
                long startNs = System.nanoTime();
                for (int i = 0; i < events; i++) {
                    FakeAgent.Prompt prompt = new FakeAgent.Prompt(i, blocks);
                    log.appendLater(agent.writeBackDone("elsewhere/" + i, IntStream.range(0, blocks).mapToObj(prompt::block).toList()));
                }
                log.append(agent.attached());
                TestLog.await("1,000 operations adopted", Duration.ofMinutes(5), () -> {
                    assertTrue(controller.isAlive(), "the controller died");
                    // Silent agents are lost after some ticks.
                    log.append(agent.heartbeat());
                    LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
                    return controller.metric("tierlog_facts_total{type=\"OrphanAdopted\"}") >= events;
                });
                long seconds = Duration.ofNanos(System.nanoTime() - startNs).toSeconds();
                System.err.println("1,000,000 placements in " + seconds + " s, peak resident memory " + controller.peakResidentMiB() + " MiB");

                // Alive and answering: a prompt from the middle is on the host, 1,000 blocks long and 1,000 reusable.
                log.append(agent.submitted("r", new FakeAgent.Prompt(events / 2, blocks), 0));
                TestLog.await("the answer", () -> !decisions.of(RequestAdmitted.class).isEmpty());
                assertEquals(blocks, decisions.of(RequestAdmitted.class).getFirst().hostBlocks());
            }
        }
    }

    /** Registers an agent, and waits until it is accepted for good. */
    private static FakeAgent registered(TestLog log, Decisions decisions, String node) {
        FakeAgent agent = new FakeAgent(node, "p1");
        log.append(agent.registering());
        TestLog.await("the registration", () -> !decisions.of(AgentAccepted.class).isEmpty());
        agent.accepted(decisions.of(AgentAccepted.class).getLast().newIncarnation());
        return agent;
    }

    /** The agent executes new commands. */
    private static boolean obey(TestLog log, LogReader<Command> reader, FakeAgent agent, List<Command> commands) {
        reader.readToEnd(entry -> {
            if (entry.reading() instanceof Reading.Decoded<Command> good) {
                commands.add(good.value());
                for (Event event : agent.on(good.value())) {
                    log.append(event);
                }
            }
        });
        return true;
    }
}
