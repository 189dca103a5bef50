/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import java.time.Duration;

/** An application in use: a bare relay, an empty Kafka Streams application, or a controller. One thread at a time. */
interface Application extends AutoCloseable {
    /** Most time that a start may take. */
    Duration START = Duration.ofSeconds(60);

    /**
     * Waits until it processes.
     *
     * @throws io.tierlog.ops.bench.report.BenchException when it does not start in time
     */
    void awaitRunning(Duration patience) throws InterruptedException;

    /** @throws io.tierlog.ops.bench.report.BenchException when it has stopped by itself */
    void check();

    /** Stops it, after a last commit. */
    @Override
    void close();
}
