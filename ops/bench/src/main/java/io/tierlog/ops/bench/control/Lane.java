/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

/**
 * One way from a submitted request to whoever waits for it: the thing whose latency is measured. Opened for a stretch of load, closed after
 * it, and opened again in the next round. One thread at a time.
 */
interface Lane {
    /** Which it is. */
    Part part();

    /** Starts what is measured; when it returns, a request sent is a request answered. */
    Running open(Arrivals arrivals) throws InterruptedException;

    /** A lane in use. */
    interface Running extends AutoCloseable {
        /** Sends the request with this number; returns the bytes of the record. */
        int submit(long number);

        /** Waits until nothing moves any more, and tells what went wrong on the way. */
        void settle() throws InterruptedException;

        /** Stops it. */
        @Override
        void close();
    }
}
