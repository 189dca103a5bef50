/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Attempts that have ended in good order and whose device pages wait for a write-back. For the core's one thread.
 *
 * <p>A controller that is away for some seconds should not cost the reuse of all that ended meanwhile, and the engine should not run out of pages
 * for it. So these attempts wait for long as long as all of them together take at most one in {@link #SHARE} of its pages, and of the requests
 * that the agent may have.
 */
final class FinishedAttempts {
    /** One in this many pages of the pool, and of the requests, may wait for longer than it must. */
    static final int SHARE = 2;

    private static final long ASK_AGAIN_MS = 250;

    private final Map<String, Held> byPin = new LinkedHashMap<>();
    private long pages;

    private record Held(LiveAttempt attempt, int pages, long untilMs) {}

    /** {@code pinned} pages of the attempt wait, at {@code untilMs} for the last moment. */
    void add(LiveAttempt attempt, int pinned, long untilMs) {
        remove(attempt.finishPin());
        byPin.put(attempt.finishPin(), new Held(attempt, pinned, untilMs));
        pages += pinned;
    }

    Optional<LiveAttempt> find(String pin) {
        return Optional.ofNullable(byPin.get(pin)).map(Held::attempt);
    }

    void remove(String pin) {
        Held held = byPin.remove(pin);
        if (held != null) {
            pages -= held.pages();
        }
    }

    /**
     * Until when the pages of that pin may wait before the next check; empty when they may not.
     *
     * @param capacity pages of the pool
     * @param requests that the agent takes at a time, count
     */
    OptionalLong mayWaitOn(String pin, long nowMs, int capacity, int requests) {
        Held held = byPin.get(pin);
        if (held == null || nowMs >= held.untilMs() || pages * SHARE > capacity || (long) byPin.size() * SHARE > requests) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(Math.min(nowMs + ASK_AGAIN_MS, held.untilMs()));
    }
}
