/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import java.util.Arrays;
import java.util.List;

/** Prompts as a workload that engines replay: blocks of 512 tokens, a last block that is not whole is half full, one tenant. Immutable. */
public record GeneratedWorkload(Prompts prompts) implements Workload {
    private static final int BLOCK_TOKENS = 512;

    @Override
    public String name() {
        return prompts.name();
    }

    @Override
    public int blockTokens() {
        return BLOCK_TOKENS;
    }

    @Override
    public List<String> tenants() {
        return List.of(prompts.name());
    }

    @Override
    public int size() {
        return prompts.prompts().size();
    }

    @Override
    public Request request(int index) {
        Prompts.Prompt prompt = prompts.prompts().get(index);
        int begun = prompt.whole() < prompt.blocks().length ? BLOCK_TOKENS / 2 : 0;
        int generated = prompt.generated().length;
        Request.Shape shape = new Request.Shape(
                prompt.whole() * BLOCK_TOKENS + begun, generated == 0 ? 1 : generated * BLOCK_TOKENS + 1 - begun, BLOCK_TOKENS);
        return new Request(
                index, 0, prompt.atMs(), shape, keys(prompt.blocks()), keys(prompt.generated()), true, Request.NO_PREDECESSOR);
    }

    private static List<BlockKey> keys(long[] numbers) {
        return Arrays.stream(numbers).mapToObj(BlockKey::of).toList();
    }
}
