/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.Causes;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Closes what was opened, last first, once: at the end of a block, or in a shutdown hook when Ctrl-C comes before.
 *
 * <p>Safe for use by the working thread and the hook. A step that fails does not keep the others from running; the first failure is thrown in the
 * end.
 */
final class Closing implements AutoCloseable {
    private final Deque<AutoCloseable> steps = new ArrayDeque<>();
    private final Thread hook = new Thread(this::close, "demo-closing");
    private boolean closed;

    Closing() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Takes over {@code resource}. */
    synchronized <T extends AutoCloseable> T own(T resource) {
        if (closed) {
            closeLate(resource);
            throw new IllegalStateException("the demo ends");
        }
        steps.push(resource);
        return resource;
    }

    /** Closes {@code resource} before its turn, unless it is closed; the hook does not wait for it. */
    void now(AutoCloseable resource) {
        synchronized (this) {
            if (!steps.remove(resource)) {
                return;
            }
        }
        try {
            resource.close();
        } catch (Exception e) {
            throw new IllegalStateException("cannot close cleanly: " + Causes.of(e), e);
        }
    }

    /** Whether it has closed all, or does so now. */
    synchronized boolean isClosed() {
        return closed;
    }

    /** Runs {@code step} in its turn. */
    synchronized void atEnd(Runnable step) {
        steps.push(step::run);
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        RuntimeException failure = null;
        while (!steps.isEmpty()) {
            try {
                steps.pop().close();
            } catch (Exception e) {
                failure = failure == null ? new IllegalStateException("cannot close cleanly: " + Causes.of(e), e) : failure;
            }
        }
        if (Thread.currentThread() != hook) {
            forgetHook();
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** What was started while everything else was being closed. */
    private static void closeLate(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            throw new IllegalStateException("cannot close cleanly: " + Causes.of(e), e);
        }
    }

    private void forgetHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ignored) {
            // The process is ending: the hook runs, finds this closed and returns.
        }
    }
}
