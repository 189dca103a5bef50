/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

/**
 * What a workload is, counted exactly by going through it once.
 *
 * @param requests number of requests
 * @param blockAccesses blocks of all prompts, partial ones included
 * @param uniqueBlocks different blocks, of prompts and generated ones with known keys; what a SIZE in percent is a share of
 * @param idealHits accesses that an infinite cache shared by all nodes would hit, by prefix and in order of arrival
 * @param reusableHits those of them that a prefix may really spare: not the block of a prompt's last token, not in echo requests
 * @param maxPromptBlocks most blocks in a prompt
 * @param maxPages most device pages a request needs; a pool must have at least that many for none to be rejected
 * @param inputTokens prompt tokens of all requests
 * @param outputTokens generated tokens of all requests
 * @param durationMs arrival of the last request
 */
public record WorkloadProfile(
        int requests,
        long blockAccesses,
        int uniqueBlocks,
        long idealHits,
        long reusableHits,
        int maxPromptBlocks,
        int maxPages,
        long inputTokens,
        long outputTokens,
        long durationMs) {
    /** Goes through {@code workload}. */
    public static WorkloadProfile of(Workload workload) {
        IdealCache cache = new IdealCache();
        long accesses = 0;
        long ideal = 0;
        long reusable = 0;
        int maxPromptBlocks = 0;
        int maxPages = 0;
        long input = 0;
        long output = 0;
        long durationMs = 0;
        for (int i = 0; i < workload.size(); i++) {
            Request request = workload.request(i);
            int prefix = cache.admit(request);
            accesses += request.accesses();
            ideal += prefix;
            reusable += Math.min(prefix, request.reusable());
            maxPromptBlocks = Math.max(maxPromptBlocks, request.accesses());
            maxPages = Math.max(maxPages, request.shape().pages());
            input += request.shape().inputTokens();
            output += request.shape().outputTokens();
            durationMs = request.arrivalMs();
        }
        return new WorkloadProfile(
                workload.size(), accesses, cache.size(), ideal, reusable, maxPromptBlocks, maxPages, input, output, durationMs);
    }

    /** Share of the accesses an infinite cache would hit. */
    public double idealHitRatio() {
        return blockAccesses == 0 ? 0 : (double) idealHits / blockAccesses;
    }
}
