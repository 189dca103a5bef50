/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;

/** Produce and consume, with nothing between. One thread at a time. */
final class HopLane implements Lane {
    private final Environment environment;
    private final String topic;
    private final Submitters submitters;

    HopLane(Environment environment) {
        this.environment = environment;
        this.topic = environment.topic("hop");
        this.submitters = Submitters.to(environment, topic);
    }

    @Override
    public Part part() {
        return Part.HOP;
    }

    @Override
    public Running open(Arrivals arrivals) {
        return new Plain(environment, submitters, receiver(environment, topic, Isolation.ALL, arrivals), () -> {});
    }

    /** Reads submitted requests at the end of a part. */
    static Receiver<Event> receiver(Environment environment, String topic, Isolation isolation, Arrivals arrivals) {
        return new Receiver<>(
                environment.access(),
                environment.codec(),
                new LogReader.Source<>(topic, Event.class, isolation),
                (event, nowNanos) -> {
                    if (event instanceof RequestSubmitted submitted) {
                        arrivals.arrived(Workload.number(submitted.request()), nowNanos);
                    }
                });
    }

    /** A part in use that has nothing to settle. */
    record Plain(Environment environment, Submitters submitters, Receiver<Event> receiver, Runnable stop) implements Running {
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
