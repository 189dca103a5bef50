/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.report;

/** Runs an action once: at {@link #close}, or when a signal ends the process. Safe for use by several threads. */
public final class Cleanup implements AutoCloseable {
    private final Runnable action;
    private final Thread hook;

    private Cleanup(Runnable action) {
        this.action = action;
        this.hook = new Thread(action, "bench-signalled");
    }

    /** From now on the action runs at the end. */
    public static Cleanup of(Runnable action) {
        Cleanup cleanup = new Cleanup(action);
        Runtime.getRuntime().addShutdownHook(cleanup.hook);
        return cleanup;
    }

    /** Whether the end of the process has begun: then the action runs, or has run, by the signal. */
    public boolean signalled() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
            return false;
        } catch (IllegalStateException ending) {
            return true;
        }
    }

    @Override
    public void close() {
        if (!signalled()) {
            action.run();
        }
    }
}
