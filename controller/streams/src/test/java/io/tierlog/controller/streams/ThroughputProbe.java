/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Reading;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * A measurement, not a test: event to command, and events per second, for the settings given as DELIVERY,CACHE-BYTES,COMMIT-MS (after the
 * word throughput: only the latter). The
 * controller runs in a process of its own, the broker and the load in this one.
 */
public final class ThroughputProbe {
    private static final int REQUESTS_PER_SECOND = 40;
    private static final int SECONDS = 20;
    private static final int BACKLOG_REQUESTS = 6_000;

    /** Flags of the controller's JVM; PROBE_JVM in the environment adds one, for a profiler. */
    private static final String[] JVM = System.getenv("PROBE_JVM") == null
            ? new String[] {"-Xmx512m"}
            : new String[] {"-Xmx512m", System.getenv("PROBE_JVM")};

    private ThroughputProbe() {}

    /** Prints a line per setting. */
    public static void main(String[] args) throws Exception {
        Path directory = Files.createTempDirectory("tierlog-probe");
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")))) {
            boolean throughputOnly = args[0].equals("throughput");
            for (String setting : throughputOnly ? Arrays.asList(args).subList(1, args.length) : Arrays.asList(args)) {
                String[] parts = setting.split(",", -1);
                CommandDelivery delivery = CommandDelivery.valueOf(parts[0]);
                long cache = Long.parseLong(parts[1]);
                int commitMs = Integer.parseInt(parts[2]);
                Path state = Files.createTempDirectory(directory, "state");
                if (!throughputOnly) {
                    System.out.printf("%-40s %s%n", setting, latency(broker, state, commitMs, cache, delivery));
                }
                state = Files.createTempDirectory(directory, "state");
                System.out.printf("%-40s %s%n", setting, throughput(broker, state, commitMs, cache, delivery));
            }
        }
    }

    /** Fresh requests at a steady rate, each from submit to end; how long until its command arrives. */
    private static String latency(EmbeddedKafka broker, Path state, int commitMs, long cache, CommandDelivery delivery) throws Exception {
        try (TestLog log = new TestLog(broker, 1);
                LogReader<Fact> decisionReader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                LogReader<Command> commands = log.reader(log.topics.commands(), Command.class, Isolation.ALL);
                LogReader<Event> bare = log.reader(log.topics.events(), Event.class, Isolation.ALL);
                ControllerProcess _ = new ControllerProcess(settings(log, state, commitMs, cache, delivery), JVM)) {
            Decisions decisions = new Decisions(decisionReader);
            FakeAgent agent = new FakeAgent("a", "p1");
            log.append(agent.registering());
            TestLog.await("the registration", () -> !decisions.of(AgentAccepted.class).isEmpty());
            agent.accepted(decisions.of(AgentAccepted.class).getLast().newIncarnation());
            log.append(agent.attached());
            bare.seekToEnd();
            Map<String, Long> sent = new HashMap<>();
            List<Long> micros = new ArrayList<>();
            List<Long> hops = new ArrayList<>();
            long start = System.nanoTime();
            int wanted = REQUESTS_PER_SECOND * SECONDS;
            for (int i = 0; micros.size() < wanted; ) {
                long due = start + i * (1_000_000_000L / REQUESTS_PER_SECOND);
                if (i < wanted && System.nanoTime() >= due) {
                    FakeAgent.Prompt prompt = new FakeAgent.Prompt(i, 8);
                    sent.put("r" + i, System.nanoTime());
                    log.appendLater(agent.submitted("r" + i, prompt, 5));
                    long hop = System.nanoTime();
                    if (i % 10 == 0) {
                        while (bare.poll(Duration.ofMillis(50), _ -> {}) == 0) {
                            Thread.onSpinWait();
                        }
                        hops.add((System.nanoTime() - hop) / 1_000);
                        bare.readToEnd(_ -> {});
                    }
                    i++;
                }
                commands.poll(Duration.ofMillis(1), entry -> {
                    if (entry.reading() instanceof Reading.Decoded<Command> good) {
                        Command command = good.value();
                        if (command instanceof PrefetchBlocks fetch) {
                            micros.add((System.nanoTime() - sent.getOrDefault(fetch.request(), 0L)) / 1_000);
                        }
                        agent.on(command).forEach(log::appendLater);
                        if (command instanceof PrefetchBlocks fetch) {
                            long number = Long.parseLong(fetch.request().substring(1));
                            agent.prefilledSealedFinished(fetch.request(), new FakeAgent.Prompt(number, 8), 5).forEach(log::appendLater);
                        }
                    }
                });
            }
            return "event to command ms " + quantiles(micros) + "   one hop ms " + quantiles(hops);
        }
    }

    /** A backlog that is worked off: from the first event to the last. */
    private static String throughput(EmbeddedKafka broker, Path state, int commitMs, long cache, CommandDelivery delivery)
            throws Exception {
        Scenario scenario = Scenario.manyRequests(BACKLOG_REQUESTS);
        try (TestLog log = new TestLog(broker, 1)) {
            scenario.events.forEach(log::appendLater);
            log.append(Script.tick(0, 1_000_000, 500_000));
            try (ControllerProcess controller = new ControllerProcess(settings(log, state, commitMs, cache, delivery), JVM)) {
                int all = scenario.events.size();
                // The first third warms it up.
                awaitDone(controller, all / 3.0);
                double from = done(controller);
                double used = controller.processorSeconds();
                double own = ownProcessorSeconds();
                long startNs = System.nanoTime();
                awaitDone(controller, all - 1);
                double seconds = (System.nanoTime() - startNs) / 1e9;
                double events = done(controller) - from;
                return String.format(
                        "%,.0f events/s (%.1f s), processor time of the controller %.0f us/event, of broker and load %.0f us/event",
                        events / seconds,
                        seconds,
                        (controller.processorSeconds() - used) * 1e6 / events,
                        (ownProcessorSeconds() - own) * 1e6 / events);
            }
        }
    }

    private static void awaitDone(ControllerProcess controller, double events) {
        TestLog.await("the backlog", Duration.ofMinutes(5), () -> {
            LockSupport.parkNanos(50_000_000);
            return done(controller) >= events;
        });
    }

    private static double ownProcessorSeconds() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3;
    }

    private static double done(ControllerProcess controller) {
        return controller.metric("tierlog_outcomes_total{outcome=\"APPLIED\"}")
                + controller.metric("tierlog_outcomes_total{outcome=\"REFUSED\"}");
    }

    private static ControllerProcess.Settings settings(TestLog log, Path state, int commitMs, long cache, CommandDelivery delivery) {
        return new ControllerProcess.Settings(
                log.access.bootstrapServers(), log.topics.prefix(), state, 1_000, commitMs, cache, delivery);
    }

    private static String quantiles(List<Long> micros) {
        long[] sorted = micros.stream().mapToLong(Long::longValue).toArray();
        Arrays.sort(sorted);
        return String.format(
                "p50 %.1f p90 %.1f p99 %.1f",
                sorted[sorted.length / 2] / 1e3, sorted[sorted.length * 9 / 10] / 1e3, sorted[sorted.length * 99 / 100] / 1e3);
    }
}
