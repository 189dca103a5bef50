/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

/**
 * Parameters of {@link ConversationWorkload}. Time is virtual: it sets the order of arrival and the distance between turns, and the pace of the run
 * only when it is replayed in time.
 *
 * @param seed same seed and parameters, same workload
 * @param requests number of requests, 1 or more
 * @param blockTokens tokens in a block
 * @param tenants those whose blocks are not shared; they use the same system prompts, so the same keys
 * @param groups different system prompts of a tenant; the popularity of the n-th falls with 1/n
 * @param systemTokens length of system prompts
 * @param userTokens length of what a user says in a turn
 * @param outputTokens length of an answer
 * @param maxInputTokens a conversation ends before its prompt is longer
 * @param turns number of turns of a conversation
 * @param pace arrivals and pauses
 * @param oddities shares of unusual requests
 * @param flood requests of one further tenant for each of the others', 0 to 100: each has a prompt of its own, as long as any may be, and is never
 *     followed by another, so nothing of it is ever used again
 */
public record ConversationParameters(
        long seed,
        int requests,
        int blockTokens,
        int tenants,
        int groups,
        Range systemTokens,
        Range userTokens,
        Range outputTokens,
        int maxInputTokens,
        Range turns,
        Pace pace,
        Oddities oddities,
        int flood) {
    /** Inclusive bounds of an evenly drawn length. */
    public record Range(int min, int max) {
        public Range {
            if (min < 1 || max < min) {
                throw new IllegalArgumentException("expected 1 <= min <= max, found " + min + " and " + max);
            }
        }
    }

    /**
     * Arrivals and pauses.
     *
     * @param conversationEveryMs mean time between the starts of two conversations
     * @param leastPauseMs before every turn but the first
     * @param shortPauseMs mean further pause before most turns
     * @param longPauseMs mean further pause before the others
     * @param longPauses share of the long pauses, 0 to 1
     */
    public record Pace(double conversationEveryMs, double leastPauseMs, double shortPauseMs, double longPauseMs, double longPauses) {}

    /**
     * Shares of unusual requests, 0 to 1.
     *
     * @param echo requests that may not reuse a prefix
     * @param retries turns asked again with the very same prompt
     */
    public record Oddities(double echo, double retries) {}

    public ConversationParameters {
        if (requests < 1 || blockTokens < 1 || tenants < 1 || groups < 1 || maxInputTokens < systemTokens.max() + userTokens.max()) {
            throw new IllegalArgumentException(
                    "expected positive numbers and a longest prompt that holds the longest system prompt and one turn");
        }
        if (flood < 0 || flood > 100) {
            throw new IllegalArgumentException("expected 0 to 100 flooding requests for each, found " + flood);
        }
    }

    /** What the demo plays when it is given no trace. */
    public static ConversationParameters defaults() {
        return new ConversationParameters(
                42,
                6_000,
                64,
                2,
                24,
                new Range(64, 400),
                new Range(30, 330),
                new Range(30, 300),
                1_536,
                new Range(1, 5),
                new Pace(150, 2_500, 5_000, 60_000, 0.35),
                new Oddities(0.01, 0.03),
                0);
    }

    /** The same with another seed. */
    public ConversationParameters withSeed(long newSeed) {
        return new ConversationParameters(
                newSeed, requests, blockTokens, tenants, groups, systemTokens, userTokens, outputTokens, maxInputTokens, turns, pace, oddities,
                flood);
    }

    /** The same with another number of requests. */
    public ConversationParameters withRequests(int newRequests) {
        return new ConversationParameters(
                seed, newRequests, blockTokens, tenants, groups, systemTokens, userTokens, outputTokens, maxInputTokens, turns, pace, oddities,
                flood);
    }

    /** The same with a tenant that floods. */
    public ConversationParameters withFlood(int newFlood) {
        return new ConversationParameters(
                seed, requests, blockTokens, tenants, groups, systemTokens, userTokens, outputTokens, maxInputTokens, turns, pace, oddities,
                newFlood);
    }
}
