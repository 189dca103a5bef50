/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import io.tierlog.ops.engine.workload.BlockId;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * The requests of a workload as numbers of blocks, in order of arrival. Immutable; any thread may read it.
 *
 * @param name what people call it
 * @param prompts the requests, 1 or more
 * @param uniqueBlocks different blocks, generated ones too
 * @param accesses blocks of all prompts
 */
public record Prompts(String name, List<Prompt> prompts, long uniqueBlocks, long accesses) {
    /**
     * One request.
     *
     * @param atMs when it comes
     * @param blocks its blocks, the first one first
     * @param whole how many of them are whole; the generated blocks extend these
     * @param generated blocks that it generates, where the workload knows them
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared, an eighth of the memory of a list of boxes
    public record Prompt(long atMs, long[] blocks, int whole, long[] generated) {
        LongStream all() {
            return LongStream.concat(Arrays.stream(blocks), Arrays.stream(generated));
        }
    }

    /** In order of arrival. */
    static Prompts of(String name, List<Prompt> prompts) {
        long unique = prompts.stream().flatMapToLong(Prompt::all).distinct().count();
        return new Prompts(name, List.copyOf(prompts), unique, prompts.stream().mapToLong(prompt -> prompt.blocks.length).sum());
    }

    /** The requests of {@code workload}. */
    public static Prompts of(Workload workload) {
        Map<BlockId, Long> numbers = new HashMap<>();
        List<Prompt> prompts = new ArrayList<>(workload.size());
        for (int i = 0; i < workload.size(); i++) {
            Request request = workload.request(i);
            prompts.add(new Prompt(request.arrivalMs(), numbers(numbers, request, request.promptKeys()), request.shape().wholeBlocks(),
                    numbers(numbers, request, request.generatedKeys())));
        }
        return of(workload.name(), prompts);
    }

    private static long[] numbers(Map<BlockId, Long> known, Request request, List<BlockKey> keys) {
        return keys.stream().mapToLong(key -> known.computeIfAbsent(request.id(key), _ -> (long) known.size())).toArray();
    }

    /** The first requests, at most all of them, as a workload of its own. */
    public Prompts first(int requests) {
        int size = Math.min(requests, prompts.size());
        return of(name + ", the first " + size, prompts.subList(0, size));
    }

    /** The first half of the requests, or the second, as a workload of its own. */
    public Prompts half(boolean first) {
        int middle = Math.max(1, prompts.size() / 2);
        return first ? of(name + ", first half", prompts.subList(0, middle)) : of(name + ", second half", prompts.subList(middle, prompts.size()));
    }

    /** Blocks of a tier that holds {@code share} of the unique blocks: to the nearest, halves up, 1 at least. */
    public int blocks(double share) {
        return Math.toIntExact(Math.max(1, Math.round(share * uniqueBlocks)));
    }
}
