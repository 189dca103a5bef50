/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

/**
 * One path from a submitted request to its receiver: its latency is measured. Opened for a stretch of load, closed after it, and opened again in the
 * next round. One thread at a time.
 */
interface Lane {
    /** The part of the report. */
    Part part();

    /** Starts the path; when it returns, requests can be sent. */
    Running open(Arrivals arrivals) throws InterruptedException;

    /** A lane in use. */
    interface Running extends AutoCloseable {
        /** Sends the request with this number; returns the bytes of the record. */
        int submit(long number);

        /** Waits until all records are processed; throws when one failed. */
        void settle() throws InterruptedException;

        /** Stops it. */
        @Override
        void close();
    }
}
