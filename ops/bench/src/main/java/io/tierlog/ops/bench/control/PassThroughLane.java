/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.LogReader.Isolation;

/** Produce, an empty Kafka Streams application, consume: before the commit or after it. One thread at a time. */
final class PassThroughLane implements Lane {
    private final Environment environment;
    private final PassThrough app;
    private final Submitters submitters;
    private final boolean afterCommit;

    PassThroughLane(Environment environment, PassThrough app, Submitters submitters, boolean afterCommit) {
        this.environment = environment;
        this.app = app;
        this.submitters = submitters;
        this.afterCommit = afterCommit;
    }

    @Override
    public Part part() {
        return afterCommit ? Part.PASS_THROUGH_AFTER_COMMIT : Part.PASS_THROUGH;
    }

    @Override
    public Running open(Arrivals arrivals) throws InterruptedException {
        Application started = app.start();
        started.awaitRunning(Application.START);
        Isolation isolation = afterCommit ? Isolation.COMMITTED : Isolation.ALL;
        return new HopLane.Plain(
                environment,
                submitters,
                HopLane.receiver(environment, app.to(), isolation, arrivals),
                started::close);
    }
}
