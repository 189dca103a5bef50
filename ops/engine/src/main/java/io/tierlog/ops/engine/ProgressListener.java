/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

/** Receives the progress of a run, a few times a second and once at its end, from one thread at a time. */
@FunctionalInterface
public interface ProgressListener {
    /** The run stands at {@code progress}. */
    void progress(Progress progress);

    /** Ignores all progress. */
    static ProgressListener none() {
        return progress -> {};
    }
}
