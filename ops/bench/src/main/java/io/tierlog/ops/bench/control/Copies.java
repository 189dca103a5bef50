/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The same events, over and over, for applications that look at none of them. They are appended as a controller's events are: in the batches of their
 * agents, with the same compression. Each application reads all of them, under another name again until it was timed for long enough. One thread at a
 * time.
 */
final class Copies implements AutoCloseable {
    private static final int FIRST = 5_000;
    private static final int GROWTH = 2;
    private static final int MOST_RUNS = 5;
    private static final int MOST = 2_000_000;

    private final Environment environment;
    private final KafkaAccess access;
    private final int partitions;
    private final List<RecordedLog.Entry> records;
    private final Outbox agents;
    private final String from;
    private final String to;
    private int appended;
    private int runs;

    /**
     * Copies of the events after the warm-up.
     *
     * @param access has the compression of all producers
     */
    Copies(Environment environment, KafkaAccess access, RecordedLog log) {
        this.environment = environment;
        this.access = access;
        this.partitions = log.partitions();
        this.records = log.records().subList(log.warmUp(), log.records().size());
        this.from = environment.topic("copies-in", partitions);
        this.to = environment.topic("copies-out", partitions);
        this.agents = new Outbox(access, environment.codec());
    }

    /** A kind of application: each of another name begins with the first record. */
    private interface Kind {
        Throughput.Loaded named(String name) throws InterruptedException;
    }

    /** The application that forwards, timed for so long at least. */
    Throughput.Speed passed(double seconds) throws InterruptedException {
        return timed("copies", seconds, name -> loaded(PassThrough.forwarding(environment, access, name, from, to)));
    }

    /** The application with the controller's topics that does nothing, timed for so long at least. */
    Throughput.Speed idle(double seconds) throws InterruptedException {
        Topics topics = environment.log("idle", partitions);
        return timed("idle", seconds, name -> loaded(PassThrough.idle(environment, access, name, from, topics, partitions)));
    }

    /** The bare relay, timed for so long at least. */
    Throughput.Speed relayed(double seconds) throws InterruptedException {
        return timed("relay", seconds, name -> {
            String relayed = environment.topic(name, partitions);
            Backlog out = new Backlog(environment, "", relayed, partitions);
            long end = appended;
            Progress progress = new Progress() {
                @Override
                public long done() throws InterruptedException {
                    return out.end();
                }

                @Override
                public long end() {
                    return end;
                }
            };
            return new Throughput.Loaded(name, progress, () -> RelayLoop.fromBeginning(access, from, relayed), () -> {});
        });
    }

    private Throughput.Loaded loaded(PassThrough application) throws InterruptedException {
        Progress progress = new Backlog(environment, application.group(), from, partitions).present();
        return new Throughput.Loaded(application.group(), progress, application::start, () -> {});
    }

    private Throughput.Speed timed(String name, double seconds, Kind kind) throws InterruptedException {
        Throughput.Stretch stretch = new Throughput.Stretch(0, (long) (seconds * TimeUnit.SECONDS.toNanos(1)), "", Throughput.Observer.NONE);
        appendUpTo(FIRST);
        Throughput.Speed sum = Throughput.Speed.NOTHING;
        for (int attempt = 1; sum.seconds() < seconds; attempt++) {
            Throughput.Sizer.checkAttempt(attempt, "the application " + name);
            Throughput.Speed speed = Throughput.measure(environment, kind.named(name + "-" + ++runs), stretch);
            sum = sum.plus(speed);
            if (sum.seconds() < seconds && speed.seconds() < seconds / MOST_RUNS) {
                appendUpTo(Math.min(MOST, GROWTH * appended));
            }
        }
        return sum;
    }

    private void appendUpTo(int wanted) {
        Replay.append(agents, from, records, appended, wanted);
        appended = Math.max(appended, wanted);
    }

    @Override
    public void close() {
        agents.close();
    }
}
