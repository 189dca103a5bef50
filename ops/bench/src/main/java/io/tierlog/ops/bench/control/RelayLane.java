/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.LogReader.Isolation;

/** Produce, consume, produce, consume. One thread at a time. */
final class RelayLane implements Lane {
    private final Environment environment;
    private final String from;
    private final String to;
    private final Submitters submitters;

    RelayLane(Environment environment) {
        this.environment = environment;
        this.from = environment.topic("relay-in");
        this.to = environment.topic("relay-out");
        this.submitters = Submitters.to(environment, from);
    }

    @Override
    public Part part() {
        return Part.RELAY;
    }

    @Override
    public Running open(Arrivals arrivals) {
        RelayLoop loop = new RelayLoop(environment.access(), from, to);
        return new HopLane.Plain(environment, submitters, HopLane.receiver(environment, to, Isolation.ALL, arrivals), loop::close);
    }
}
