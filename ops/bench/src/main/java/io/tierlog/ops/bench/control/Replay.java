/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.Reading;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.schemas.decision.Fact;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * The throughput on the events of a busy node: a log is written again, at the same offsets, and a controller decides it again. Beside it the same
 * events go through the empty applications and the bare relay, as often as it takes: {@link Copies}. One thread at a time.
 */
final class Replay {
    private static final double WARM_UP_S = 2;
    private static final int REQUESTS_A_SECOND = 300;
    private static final int LEAST_REQUESTS = 100;
    private static final int WARM_UP_REQUESTS = 1_000;
    private static final int MOST_REQUESTS = 200_000;

    /** Warming up ends when the compiler takes less than this part of a core, or has had so many times the seconds of the measurement. */
    private static final double COMPILED = 0.1;

    private static final int MOST_WARM_UP = 4;

    private final Environment environment;
    private final LogSupply supply;
    private final Consumer<String> progress;
    private int logs;

    /**
     * The speeds of all.
     *
     * @param source of the events
     * @param sides the controller, by the compression of its producers and those of the agents, and whether records have codes; the first is the
     *     one that the ratios are about
     * @param passThrough the application that forwards
     * @param idle the application with the controller's topics that does nothing
     * @param relay the bare relay
     * @param cold the controller's first replay in this process: the compiler has not begun
     * @param warmUps replays before those that count
     */
    record Result(
            String source, Map<String, Side> sides, Throughput.Speed passThrough, Throughput.Speed idle, Throughput.Speed relay,
            Throughput.Speed cold, int warmUps) {
        Side first() {
            return sides.values().iterator().next();
        }

        private Result after(Throughput.Speed first, int replays) {
            return new Result(source, sides, passThrough, idle, relay, first, replays);
        }

        /** Whether what was decided before was decided each time. */
        boolean same() {
            return sides.values().stream().allMatch(Side::same);
        }
    }

    /**
     * A controller.
     *
     * @param log the last of the logs that were replayed
     * @param speed of deciding it
     * @param events what the events after the warm-up take in their topic
     * @param append processor time of appending them, as their agents do
     * @param restores how often it was started without its state, after all events
     * @param restoreNanos how long that took until it ran, all together
     * @param restore processor time of that
     * @param same whether it decided what was decided before
     */
    record Side(
            RecordedLog log, Throughput.Speed speed, TopicSizes.Size events, CpuTimes append, int restores, long restoreNanos, CpuTimes restore,
            boolean same) {
        Side plus(Side later) {
            return new Side(
                    later.log, speed.plus(later.speed), events.plus(later.events), append.plus(later.append), restores + later.restores,
                    restoreNanos + later.restoreNanos, restore.plus(later.restore), same && later.same);
        }

        /** Requests among the events that were timed. */
        double requests() {
            return log.requestsIn(speed.records());
        }
    }

    Replay(Environment environment, LogSupply supply, Consumer<String> progress) {
        this.environment = environment;
        this.supply = supply;
        this.progress = progress;
    }

    /**
     * Measures all, each for so long at least, after replays for the compiler: of the first it takes more processor time than the controller. With
     * less than a second to measure there is one.
     *
     * @param observer sees when the time of the first controller begins and ends
     */
    Result run(double seconds, Throughput.Observer observer) throws InterruptedException {
        int requests = Math.clamp((long) (seconds * REQUESTS_A_SECOND), LEAST_REQUESTS, WARM_UP_REQUESTS);
        Throughput.Sizer sizer = new Throughput.Sizer(requests, environment.config().tuning().commitIntervalMs());
        ControlBenchConfig.Recorded.Variant first = environment.config().recorded().variants().getFirst();
        progress.accept("  recorded events: " + supply.name() + ", warming up");
        Compiler compiler = new Compiler();
        Side warm = decided(first, sizer.next(), compiler);
        learn(sizer, warm, seconds);
        Throughput.Speed cold = warm.speed();
        int warmUps = 1;
        for (double spent = cold.seconds(); seconds >= 1 && spent < MOST_WARM_UP * seconds && compiler.share() > COMPILED; warmUps++) {
            warm = decided(first, sizer.next(), compiler);
            spent += warm.speed().seconds();
        }
        try (Copies copies = new Copies(environment, environment.access().withCompression(first.compression()), warm.log())) {
            copies.passed(Math.min(WARM_UP_S, seconds));
            return inTurn(copies, sizer, seconds, observer).after(cold, warmUps);
        }
    }

    /** How busy the compiler was while something was timed. */
    private static final class Compiler implements Throughput.Observer {
        private final CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        private long compiledMs;
        private long beganNanos;
        private double share;

        @Override
        public void begin() {
            compiledMs = compiler.getTotalCompilationTime();
            beganNanos = System.nanoTime();
        }

        @Override
        public void end() {
            double ms = (System.nanoTime() - beganNanos) / (double) TimeUnit.MILLISECONDS.toNanos(1);
            share = (compiler.getTotalCompilationTime() - compiledMs) / ms;
        }

        /** Of a core, in the last time. */
        double share() {
            return share;
        }
    }

    private Result inTurn(Copies copies, Throughput.Sizer sizer, double seconds, Throughput.Observer observer) throws InterruptedException {
        List<ControlBenchConfig.Recorded.Variant> variants = environment.config().recorded().variants();
        Map<String, Side> sides = new LinkedHashMap<>();
        Throughput.Speed passThrough = Throughput.Speed.NOTHING;
        // In turn, half of the time each, so that other work on the machine slows all alike.
        for (int attempt = 1; passThrough.seconds() < seconds || !isLongEnough(sides, seconds); attempt++) {
            Throughput.Sizer.checkAttempt(attempt, "the replay");
            double until = Math.min(seconds, attempt * seconds / 2);
            if (passThrough.seconds() < until) {
                progress.accept("  recorded events: empty pass-through");
                passThrough = passThrough.plus(copies.passed(until - passThrough.seconds()));
            }
            for (ControlBenchConfig.Recorded.Variant variant : variants) {
                Side before = sides.get(variant.name());
                if (before == null || before.speed().seconds() < until) {
                    progress.accept("  recorded events: Tierlog, compression " + variant.name());
                    Side side = decided(variant, sizer.next(), variant.equals(variants.getFirst()) ? observer : Throughput.Observer.NONE);
                    sides.merge(variant.name(), side, Side::plus);
                    learn(sizer, side, seconds / 2);
                }
            }
        }
        progress.accept("  recorded events: the controller's topics and no work, bare relay");
        return new Result(supply.name(), sides, passThrough, copies.idle(seconds), copies.relayed(seconds), Throughput.Speed.NOTHING, 0);
    }

    private static boolean isLongEnough(Map<String, Side> sides, double seconds) {
        return !sides.isEmpty() && sides.values().stream().allMatch(side -> side.speed().seconds() >= seconds);
    }

    private static void learn(Throughput.Sizer sizer, Side side, double lackingS) {
        Throughput.Speed speed = side.speed();
        sizer.learn(new Throughput.Speed((long) side.requests(), speed.nanos(), speed.cpu(), speed.written()), lackingS, MOST_REQUESTS);
    }

    /** Writes a log with so many requests, and lets a new controller decide it, and restore its state. */
    private Side decided(ControlBenchConfig.Recorded.Variant variant, int requests, Throughput.Observer observer) throws InterruptedException {
        RecordedLog log = supply.log(requests);
        KafkaAccess plain = environment.access().withCompression(variant.compression());
        Controller controller = Controller.replaying(
                environment, topics -> variant.codes() ? plain.withSigning(environment.signing(topics)) : plain, "recorded-" + ++logs,
                log.partitions());
        KafkaAccess access = controller.access();
        Topics topics = controller.topics();
        Backlog backlog = new Backlog(environment, controller.group(), topics.events(), log.partitions());
        backlog.awaitLeaders();
        TopicSizes.Size events;
        CpuTimes append;
        try (Outbox agents = new Outbox(access, environment.codec())) {
            append(agents, topics.events(), log.records().subList(0, log.warmUp()), 0, log.warmUp());
            TopicSizes before = TopicSizes.of(environment.admin(), topics.events());
            CpuTimes begin = CpuTimes.now("", environment);
            List<RecordedLog.Entry> measured = log.records().subList(log.warmUp(), log.records().size());
            append(agents, topics.events(), measured, 0, measured.size());
            append = CpuTimes.now("", environment).minus(begin);
            events = TopicSizes.of(environment.admin(), topics.events()).minus(before).total();
        }
        Throughput.Stretch stretch = new Throughput.Stretch(log.warmUp(), 0, topics.prefix(), observer);
        Throughput.Loaded loaded = new Throughput.Loaded(controller.group(), backlog.present(), controller::start, () -> {});
        Throughput.Speed speed = Throughput.measure(environment, loaded, stretch);
        access.signing().ifPresent(Replay::requireHonest);
        boolean same = decisions(topics, log).equals(log.decisions());
        CpuTimes begin = CpuTimes.now("", environment);
        long beginNanos = System.nanoTime();
        try (Application restored = controller.startWithoutState()) {
            restored.awaitRunning(Application.START);
            long nanos = System.nanoTime() - beginNanos;
            return new Side(log, speed, events, append, 1, nanos, CpuTimes.now("", environment).minus(begin), same);
        }
    }

    private static void requireHonest(RecordSigning signing) {
        if (signing.forged() > 0) {
            throw BenchException.failed(signing.forged() + " records were taken for forged", "this is a fault of the benchmark");
        }
    }

    /** What the events led to, without what ticks of this controller led to afterwards. */
    private Map<String, Long> decisions(Topics topics, RecordedLog log) {
        DecisionCount count = new DecisionCount(log.ends());
        LogReader.Source<Fact> source = new LogReader.Source<>(topics.decisions(), Fact.class, LogReader.Isolation.COMMITTED);
        try (LogReader<Fact> reader = new LogReader<>(environment.access(), environment.codec(), source)) {
            reader.readToEnd(entry -> {
                if (entry.reading() instanceof Reading.Decoded<Fact> read) {
                    count.add(entry.partition(), read.value());
                }
            });
        }
        return count.types();
    }

    /** Appends the records from..to-1 in the batches of their agents; after the last comes the first again. */
    static void append(Outbox outbox, String topic, List<RecordedLog.Entry> records, int from, int to) {
        Map<Integer, Long> waiting = new HashMap<>();
        for (int index = from; index < to; index++) {
            RecordedLog.Entry record = records.get(index % records.size());
            if (waiting.getOrDefault(record.partition(), record.burst()) != record.burst()) {
                outbox.flush();
                waiting.clear();
            }
            waiting.put(record.partition(), record.burst());
            outbox.send(new ProducerRecord<>(topic, record.partition(), record.key(), record.value()));
        }
        outbox.flush();
    }
}
