/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import java.util.List;

/**
 * One request of a workload.
 *
 * @param index position in the workload, from 0, in order of arrival
 * @param tenant index into {@link Workload#tenants()}
 * @param arrivalMs when it comes, in ms from the start of the workload
 * @param shape its sizes in tokens
 * @param promptKeys keys of the blocks of the prompt, the last of which may be partial
 * @param generatedKeys keys of the blocks that become whole by generation, first one first; empty when unknown
 * @param reuseEligible false for requests that need every prompt token computed (echo, prompt logprobs)
 * @param predecessor index of the request whose answer this one continues, or -1
 */
public record Request(
        int index,
        int tenant,
        long arrivalMs,
        Shape shape,
        List<BlockKey> promptKeys,
        List<BlockKey> generatedKeys,
        boolean reuseEligible,
        int predecessor) {
    /** No request has to end before this one. */
    public static final int NO_PREDECESSOR = -1;

    /**
     * Sizes in tokens.
     *
     * @param inputTokens prompt length, 1 or more
     * @param outputTokens tokens generated, 0 or more
     * @param blockTokens tokens in a block, 1 or more
     */
    public record Shape(int inputTokens, int outputTokens, int blockTokens) {
        /** Blocks the prompt touches, the partial one included. */
        public int promptBlocks() {
            return ceilDiv(inputTokens, blockTokens);
        }

        /** Whole blocks of the prompt. */
        public int wholeBlocks() {
            return inputTokens / blockTokens;
        }

        /** Most blocks a prefix may spare: the last token is always computed. */
        public int reusableBlocks() {
            return (inputTokens - 1) / blockTokens;
        }

        /** Blocks that are whole when generation has ended: KV exists for all tokens but the last generated one. */
        public int sealedBlocks() {
            int tokens = outputTokens == 0 ? inputTokens : Math.addExact(inputTokens, outputTokens - 1);
            return tokens / blockTokens;
        }

        /** Device pages needed to run. */
        public int pages() {
            return ceilDiv(Math.addExact(inputTokens, outputTokens), blockTokens);
        }

        private static int ceilDiv(int a, int b) {
            return Math.ceilDiv(a, b);
        }
    }

    public Request {
        promptKeys = List.copyOf(promptKeys);
        generatedKeys = List.copyOf(generatedKeys);
        if (promptKeys.size() != shape.promptBlocks()) {
            throw new IllegalArgumentException("request " + index + ": " + promptKeys.size() + " prompt keys for " + shape);
        }
        if (!generatedKeys.isEmpty() && shape.wholeBlocks() + generatedKeys.size() != shape.sealedBlocks()) {
            throw new IllegalArgumentException("request " + index + ": " + generatedKeys.size() + " generated keys for " + shape);
        }
    }

    /** Blocks of the prompt: what the run counts as block accesses. */
    public int accesses() {
        return promptKeys.size();
    }

    /** Blocks a prefix may spare this request; 0 when it must compute all. */
    public int reusable() {
        return reuseEligible ? shape.reusableBlocks() : 0;
    }

    /** Keys of the whole blocks of the prompt. */
    public List<BlockKey> wholeKeys() {
        return promptKeys.subList(0, shape.wholeBlocks());
    }

    /** Names block {@code key} of this request's tenant. */
    public BlockId id(BlockKey key) {
        return new BlockId(tenant, key);
    }
}
