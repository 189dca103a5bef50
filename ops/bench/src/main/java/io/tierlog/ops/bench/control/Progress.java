/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.report.BenchException;

/** How far an application has come in its backlog. One thread at a time. */
interface Progress {
    /** Records that are done, all partitions together. */
    long done() throws InterruptedException;

    /** Records that are to be done. */
    long end() throws InterruptedException;

    /** The exception for an application that does not get on. */
    static BenchException stuck(String application, long done, long end) {
        return BenchException.failed(application + " stays at " + done + " of " + end + " records", "run again with --verbose, or with less --work");
    }
}
