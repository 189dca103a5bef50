/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;

/** The lanes without a controller: a bare hop, a bare relay, and an empty Kafka Streams application. Static and without state. */
final class Lanes {
    private Lanes() {}

    /** Produce and consume. */
    static Lane hop(Environment environment) {
        String topic = environment.topic("hop");
        Submitters submitters = Submitters.to(environment, topic);
        return new Plain(Part.HOP, arrivals -> new Open(environment, submitters, receiver(environment, topic, Isolation.ALL, arrivals), () -> {}));
    }

    /** Produce, consume, produce, consume. */
    static Lane relay(Environment environment) {
        String from = environment.topic("relay-in");
        String to = environment.topic("relay-out");
        Submitters submitters = Submitters.to(environment, from);
        return new Plain(Part.RELAY, arrivals -> {
            RelayLoop loop = RelayLoop.atEnd(environment.access(), from, to);
            return new Open(environment, submitters, receiver(environment, to, Isolation.ALL, arrivals), loop::close);
        });
    }

    /** Produce, an empty Kafka Streams application, consume: before the commit or after it. */
    static Lane passThrough(Environment environment, PassThrough app, String to, Submitters submitters, boolean afterCommit) {
        Isolation isolation = afterCommit ? Isolation.COMMITTED : Isolation.ALL;
        return new Plain(afterCommit ? Part.PASS_THROUGH_AFTER_COMMIT : Part.PASS_THROUGH, arrivals -> {
            Application started = app.start();
            started.awaitRunning(Application.START);
            return new Open(environment, submitters, receiver(environment, to, isolation, arrivals), started::close);
        });
    }

    /** Reads submitted requests at the end of a lane. */
    private static Receiver<Event> receiver(Environment environment, String topic, Isolation isolation, Arrivals arrivals) {
        LogReader.Source<Event> source = new LogReader.Source<>(topic, Event.class, isolation);
        return new Receiver<>(environment.access(), environment.codec(), source, (event, nowNanos) -> {
            if (event instanceof RequestSubmitted submitted) {
                arrivals.arrived(Workload.number(submitted.request()), nowNanos);
            }
        });
    }

    private interface Opener {
        Lane.Running open(Arrivals arrivals) throws InterruptedException;
    }

    private record Plain(Part part, Opener opener) implements Lane {
        @Override
        public Running open(Arrivals arrivals) throws InterruptedException {
            return opener.open(arrivals);
        }
    }

    /** A lane in use that is settled when all was sent. */
    private record Open(Environment environment, Submitters submitters, Receiver<Event> receiver, Runnable stop) implements Lane.Running {
        @Override
        public int submit(long number) {
            return submitters.submit(number);
        }

        @Override
        public void settle() {
            environment.outbox().check();
            receiver.check();
        }

        @Override
        public void close() {
            stop.run();
            receiver.close();
        }
    }
}
