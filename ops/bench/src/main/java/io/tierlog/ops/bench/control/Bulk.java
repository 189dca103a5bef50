/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Reading;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The same records through an empty application and through controllers: whole lives of requests that are not worth a fetch, so that none
 * of them depends on what is answered. What came out is counted, and only then does the speed count. One thread at a time.
 */
final class Bulk {
    /** Records of one request: submitted, prefilled, finished. */
    static final int RECORDS_A_REQUEST = 3;

    private static final Set<String> COMMANDS =
            WireType.ofFamily(Command.class).stream().map(type -> type.schema().getName()).collect(Collectors.toSet());

    private final Environment environment;

    /**
     * What one application made of its records.
     *
     * @param seen how fast
     * @param events records it was given
     * @param out what it wrote, by type
     */
    record Result(Throughput.Seen seen, long events, Map<String, Long> out) {
        static final Result NOTHING = new Result(Throughput.Seen.NOTHING, 0, Map.of());

        Result plus(Result other) {
            Map<String, Long> sum = new TreeMap<>(out);
            other.out.forEach((type, count) -> sum.merge(type, count, Long::sum));
            return new Result(seen.plus(other.seen), events + other.events, sum);
        }

        long count(String type) {
            return out.getOrDefault(type, 0L);
        }
    }

    /** Whether a record type is that of a command. */
    static boolean isCommand(String type) {
        return COMMANDS.contains(type);
    }

    Bulk(Environment environment) {
        this.environment = environment;
    }

    /** Sends the requests to the empty application and lets it work them off. */
    Result through(PassThrough app, Submitters submitters, long first, int requests) throws InterruptedException {
        Backlog backlog = new Backlog(environment, app.group(), app.from());
        long before = backlog.end();
        load(submitters, first, requests, 0);
        long events = backlog.end() - before;
        try (Count<Event> out = new Count<>(app.to(), Event.class)) {
            Throughput.Seen seen = Throughput.measure(new Loaded(app.group(), backlog, app::start, () -> {}));
            return new Result(seen, events, out.byType());
        }
    }

    /** Sends the requests to a controller and lets it work them off. */
    Result through(Controller controller, long first, int requests) throws InterruptedException {
        Backlog backlog = new Backlog(environment, controller.group(), controller.topics().events());
        if (!controller.agents().isRegistered()) {
            try (Application started = controller.startWithAgents()) {
                backlog.awaitNone(started);
            }
        }
        load(controller.submitters(), first, requests, controller.agents().thresholdBlocks());
        try (Count<Fact> decisions = new Count<>(controller.topics().decisions(), Fact.class);
                Count<Command> commands = new Count<>(controller.topics().commands(), Command.class)) {
            // Time passes in the log while it is worked off, and a node that nobody heard of meanwhile would count as lost.
            Throughput.Seen seen = Throughput.measure(new Loaded(
                    controller.group(), backlog, controller::start, controller.agents()::idle));
            Map<String, Long> out = new TreeMap<>(decisions.byType());
            out.putAll(commands.byType());
            return new Result(seen, (long) requests * RECORDS_A_REQUEST, out);
        }
    }

    private void load(Submitters submitters, long first, int requests, int inStore) {
        for (int index = 0; index < requests; index++) {
            submitters.wholeLife(first + index, inStore);
        }
        environment.outbox().flush();
    }

    private record Loaded(String application, Backlog backlog, Supplier<Application> starter, Runnable beat)
            implements Throughput.Loaded {
        @Override
        public Application start() {
            return starter.get();
        }

        @Override
        public void meanwhile() {
            beat.run();
        }
    }

    /** Counts what is written to a topic from now on, once it is committed. */
    private final class Count<F extends WireRecord> implements AutoCloseable {
        private final LogReader<F> reader;

        Count(String topic, Class<F> family) {
            reader = new LogReader<>(
                    environment.access(), environment.codec(), new LogReader.Source<>(topic, family, Isolation.COMMITTED));
            reader.seekToEnd();
        }

        Map<String, Long> byType() {
            Map<String, Long> counts = new TreeMap<>();
            reader.readToEnd(entry -> {
                String type = switch (entry.reading()) {
                    case Reading.Decoded<F> good -> good.value().schema().getName();
                    case Reading.Unreadable<F> bad -> "unreadable: " + bad.reason();
                };
                counts.merge(type, 1L, Long::sum);
            });
            return counts;
        }

        @Override
        public void close() {
            reader.close();
        }
    }
}
