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
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Sends the same records through an empty application and through controllers: complete requests that are not worth a fetch, so that none of them
 * depends on an answer. They place no block, so an event costs far less than one of a busy node: {@link Replay} measures those. The output is
 * counted; the speed is valid only when the count is right. One thread at a time.
 */
final class Bulk {
    /** Records of one request: submitted, prefilled, finished. */
    static final int RECORDS_A_REQUEST = 3;

    private static final Set<String> COMMANDS =
            WireType.ofFamily(Command.class).stream().map(type -> type.schema().getName()).collect(Collectors.toSet());

    private static final int FIRST_RECORDS = 20_000;
    private static final int MOST_RECORDS = 3_000_000;

    private final Environment environment;
    private final Map<String, Throughput.Sizer> sizers = new HashMap<>();

    /**
     * How one application processed its records.
     *
     * @param speed how fast
     * @param events records that it read
     * @param written records that it wrote, by type
     */
    record Result(Throughput.Speed speed, long events, Map<String, Long> written) {
        static final Result NOTHING = new Result(Throughput.Speed.NOTHING, 0, Map.of());

        Result plus(Result other) {
            Map<String, Long> sum = new TreeMap<>(written);
            other.written.forEach((type, count) -> sum.merge(type, count, Long::sum));
            return new Result(speed.plus(other.speed), events + other.events, sum);
        }

        long count(String type) {
            return written.getOrDefault(type, 0L);
        }

        /** Records that it wrote. */
        long total() {
            return written.values().stream().mapToLong(Long::longValue).sum();
        }

        /** Records that it wrote and that are not commands. */
        long decisions() {
            return total() - COMMANDS.stream().mapToLong(this::count).sum();
        }
    }

    Bulk(Environment environment) {
        this.environment = environment;
    }

    /** Numbers of requests that no other part has. */
    interface Numbers {
        /** The first of so many. */
        long take(int requests);
    }

    /** Sends requests to the empty application until it has worked on them for so long. */
    Result through(PassThrough app, String to, Submitters submitters, Numbers numbers, double seconds) throws InterruptedException {
        return until(app.group(), seconds, requests -> passed(app, to, submitters, numbers.take(requests), requests));
    }

    /** Sends requests to a controller until it has worked on them for so long. */
    Result through(Controller controller, Numbers numbers, double seconds) throws InterruptedException {
        return until(controller.group(), seconds, requests -> decided(controller, numbers.take(requests), requests));
    }

    private Result until(String application, double seconds, Throughput.Measurement<Result> measurement) throws InterruptedException {
        int commitMs = environment.config().tuning().commitIntervalMs();
        Throughput.Sizer sizer = sizers.computeIfAbsent(application, _ -> new Throughput.Sizer(FIRST_RECORDS, commitMs));
        Result sum = Result.NOTHING;
        for (int attempt = 1; sum.speed().seconds() < seconds; attempt++) {
            Throughput.Sizer.checkAttempt(attempt, application);
            Result result = measurement.of(sizer.next() / RECORDS_A_REQUEST);
            sum = sum.plus(result);
            double lacking = seconds - sum.speed().seconds();
            sizer.learn(result.speed(), lacking > 0 ? lacking : seconds, MOST_RECORDS);
        }
        return sum;
    }

    private Result passed(PassThrough app, String to, Submitters submitters, long first, int requests) throws InterruptedException {
        Backlog backlog = new Backlog(environment, app.group(), app.from());
        long before = backlog.end();
        load(submitters, first, requests, 0);
        long events = backlog.end() - before;
        try (Count<Event> out = new Count<>(to, Event.class)) {
            Throughput.Loaded loaded = new Throughput.Loaded(app.group(), backlog.present(), app::start, () -> {});
            Throughput.Speed speed = Throughput.measure(environment, loaded, Throughput.Stretch.ALL);
            return new Result(speed, events, out.byType());
        }
    }

    private Result decided(Controller controller, long first, int requests) throws InterruptedException {
        Backlog backlog = new Backlog(environment, controller.group(), controller.topics().events());
        if (!controller.agents().isRegistered()) {
            try (Application started = controller.startWithAgents()) {
                backlog.awaitNone(started);
            }
        }
        load(controller.submitters(), first, requests, controller.agents().thresholdBlocks());
        try (Count<Fact> decisions = new Count<>(controller.topics().decisions(), Fact.class);
                Count<Command> commands = new Count<>(controller.topics().commands(), Command.class)) {
            // Time passes in the log meanwhile: a node without heartbeats would count as lost.
            Throughput.Loaded loaded =
                    new Throughput.Loaded(controller.group(), backlog.present(), controller::start, controller.agents()::idle);
            Throughput.Speed speed = Throughput.measure(environment, loaded, Throughput.Stretch.ALL);
            Map<String, Long> out = new TreeMap<>(decisions.byType());
            out.putAll(commands.byType());
            return new Result(speed, (long) requests * RECORDS_A_REQUEST, out);
        }
    }

    private void load(Submitters submitters, long first, int requests, int inStore) {
        for (int index = 0; index < requests; index++) {
            submitters.complete(first + index, inStore);
        }
        environment.outbox().flush();
    }

    /** Counts the records that are committed to a topic from now on. */
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
