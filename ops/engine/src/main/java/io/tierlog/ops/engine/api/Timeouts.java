/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.api;

/**
 * How long the engine waits for its agent, in ms. None of these is reached with an agent that works.
 *
 * @param callMs any call that moves no bytes
 * @param readyMs Ready after a submit that waits; a bit above the agent's {@code prefetch_wait_ms}
 * @param loadMs a load
 * @param stuckMs pages held without any being released, before the engine ends the session
 * @param connectMs a session at the start of a run
 * @param onTheLogMs the registration of all agents at the start of a run; the run goes on without when it passes
 * @param drainMs releases at the end of a run
 * @param firstBackoffMs before the second attempt to find a lost agent; doubles up to {@code lastBackoffMs}
 * @param lastBackoffMs longest time between two attempts
 */
public record Timeouts(
        long callMs,
        long readyMs,
        long loadMs,
        long stuckMs,
        long connectMs,
        long onTheLogMs,
        long drainMs,
        long firstBackoffMs,
        long lastBackoffMs) {
    /** For an agent with the default policy. */
    public static Timeouts defaults() {
        return new Timeouts(10_000, 1_000, 15_000, 30_000, 15_000, 15_000, 15_000, 50, 2_000);
    }

    /** The same with another patience for Ready. */
    public Timeouts withReadyMs(long value) {
        return new Timeouts(callMs, value, loadMs, stuckMs, connectMs, onTheLogMs, drainMs, firstBackoffMs, lastBackoffMs);
    }

    /** The same with another patience for registrations. */
    public Timeouts withOnTheLogMs(long value) {
        return new Timeouts(callMs, readyMs, loadMs, stuckMs, connectMs, value, drainMs, firstBackoffMs, lastBackoffMs);
    }
}
