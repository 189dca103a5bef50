/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentLimits;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * How far the controller is behind, as this agent sees it: the age of the oldest submission that no command has answered yet.
 *
 * <p>The controller answers submissions in the order of the log, so an answer to one means that it has decided all before. One that it refuses gets
 * no command, and counts until a later one is answered, or its time is over. For the core's one thread.
 */
final class ControllerLag {
    /** A submission without an answer counts for so many times the longest wait; then another request tries whether the controller answers again. */
    private static final int COUNTS_TIMES = 10;

    /** And no longer than that, also where requests may wait for minutes. */
    private static final long COUNTS_MS = 2_000;

    /** Names an attempt within the node, as commands do. */
    private record Submission(String request, int attempt) {}

    private final SequencedMap<Submission, Long> unanswered = new LinkedHashMap<>();
    private final int bound;
    private final long forgetMs;

    ControllerLag(AgentLimits limits) {
        bound = limits.bounds().waiting();
        forgetMs = Math.min(COUNTS_MS, COUNTS_TIMES * limits.times().prefetchWaitMs());
    }

    /** The log has a submission that waits. */
    void submitted(Attempt id, long nowMs) {
        if (unanswered.size() < bound) {
            unanswered.put(new Submission(id.request(), id.attempt()), nowMs);
        }
    }

    /** A command for this attempt has come. Those submitted before it, which have ended meanwhile, will get none. */
    void answered(String request, int attempt) {
        Submission answered = new Submission(request, attempt);
        boolean more = unanswered.containsKey(answered);
        while (more) {
            more = !unanswered.pollFirstEntry().getKey().equals(answered);
        }
    }

    /** No command will come for what was submitted before. */
    void clear() {
        unanswered.clear();
    }

    /** Milliseconds that the oldest unanswered submission waits for its command; 0 when there is none. */
    long ms(long nowMs) {
        while (!unanswered.isEmpty() && nowMs - unanswered.firstEntry().getValue() >= forgetMs) {
            unanswered.pollFirstEntry();
        }
        return unanswered.isEmpty() ? 0 : nowMs - unanswered.firstEntry().getValue();
    }
}
