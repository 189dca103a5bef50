/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.context.Counters;
import io.tierlog.schemas.DevicePage;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an attempt takes of a long prompt: its first blocks, up to a bound. The blocks after them are left to the engine, since no later prompt would
 * be looked up for them. What is taken may be longer than a record of the log: the record of a prompt names the first keys only, so that the
 * controller fetches nothing after them; what serves on the host is offered in any case, and what is sealed goes to the log in parts. Without state.
 */
public final class PromptBound {
    private PromptBound() {}

    /** How many of {@code blocks} blocks, the first of which has that index in its prompt, an attempt of {@code most} blocks takes. */
    public static int taken(int firstIndex, int blocks, int most) {
        return Math.clamp((long) most - firstIndex, 0, blocks);
    }

    /** The call with the blocks that its attempt takes; {@code onDevice} stays whole, since the engine keeps those pages. */
    static Submitted within(Submitted in, int most) {
        int taken = taken(0, in.keys().size(), most);
        return taken == in.keys().size() ? in : new Submitted(
                in.call(), in.attempt(), in.namespace(), List.copyOf(in.keys().subList(0, taken)), in.promptTokens(), in.blockTokens(),
                Math.min(in.deviceBlocks(), taken), in.onDevice(), in.keepsPages(), in.reuseEligible(), in.prefillNsPerToken(), in.traceContext());
    }

    /** Counts what the attempt of this call does not take of its prompt. */
    static void count(Counters counters, Submitted in) {
        int left = in.promptTokens() / in.blockTokens() - in.keys().size();
        counters.add(AgentCounter.PROMPTS_CUT, left > 0 ? 1 : 0);
        counters.add(AgentCounter.PROMPT_BLOCKS_NOT_TAKEN, left);
    }

    /** The record of an attempt, with the keys that it may name: counts and indexes are of those. */
    static RequestSubmitted recorded(Envelope envelope, LiveAttempt attempt, int storeBlocks, boolean answered, @Nullable String instance) {
        Submitted in = attempt.submitted();
        int keys = attempt.recorded();
        int device = Math.min(in.deviceBlocks(), keys);
        int storeFrom = Math.min(attempt.storeFrom(), keys);
        return new RequestSubmitted(
                envelope, in.attempt().request(), in.attempt().attempt(), in.namespace(), in.keys().subList(0, keys), in.promptTokens(),
                in.blockTokens(), device, below(attempt.hostIndexes(), keys), below(attempt.diskIndexes(), keys), storeFrom,
                Math.min(storeBlocks, keys - storeFrom), in.reuseEligible(), answered, in.keepsPages(),
                in.onDevice().stream().limit(device).map(block -> new DevicePage(block.page(), block.generation())).toList(),
                answered ? null : attempt.peer(), instance);
    }

    private static List<Integer> below(List<Integer> ascending, int end) {
        return ascending.stream().takeWhile(index -> index < end).toList();
    }

    /** A list in parts of at most {@code most}, each for a record of its own. */
    public static <T> List<List<T>> parts(List<T> blocks, int most) {
        List<List<T>> parts = new ArrayList<>();
        for (int from = 0; from < blocks.size(); from += most) {
            parts.add(List.copyOf(blocks.subList(from, Math.min(blocks.size(), from + most))));
        }
        return parts;
    }
}
