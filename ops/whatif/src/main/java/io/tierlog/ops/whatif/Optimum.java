/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The clairvoyant optimum: Bélády's rule over prefix trees. After each request the tier keeps those of its blocks and the request's whose next
 * prompt comes soonest, and none that no later prompt has. A block's next prompt is never later than that of a block that extends it, so among
 * equals the deeper one leaves first and no block leaves before one that extends it: the rule for single blocks is the rule for prefixes, and no
 * policy has more hits. Static and without state.
 */
final class Optimum {
    private Optimum() {}

    /** A block with the number of the next request whose prompt has it. */
    private record Next(long block, int request, int index) {
        static final Comparator<Next> SOONEST_FIRST =
                Comparator.comparingInt(Next::request).thenComparingInt(Next::index).thenComparingLong(Next::block);
    }

    /** Blocks hit. */
    static long hits(Prompts workload, int capacity) {
        List<Prompts.Prompt> prompts = workload.prompts();
        int[][] next = next(prompts);
        TreeSet<Next> kept = new TreeSet<>(Next.SOONEST_FIRST);
        Map<Long, Next> known = new HashMap<>();
        long hits = 0;
        for (int i = 0; i < prompts.size(); i++) {
            Prompts.Prompt prompt = prompts.get(i);
            int prefix = 0;
            while (prefix < prompt.blocks().length && known.containsKey(prompt.blocks()[prefix])) {
                prefix++;
            }
            hits += prefix;
            long[] blocks = prompt.all().toArray();
            for (int k = 0; k < blocks.length; k++) {
                Next before = known.remove(blocks[k]);
                if (before != null) {
                    kept.remove(before);
                }
                if (next[i][k] < prompts.size()) {
                    Next now = new Next(blocks[k], next[i][k], k);
                    known.put(blocks[k], now);
                    kept.add(now);
                }
            }
            while (kept.size() > capacity) {
                known.remove(kept.removeLast().block());
            }
        }
        return hits;
    }

    /** For each block of each request, the next request whose prompt has it; their number where there is none, or where it is generated before. */
    private static int[][] next(List<Prompts.Prompt> prompts) {
        int[][] next = new int[prompts.size()][];
        Map<Long, Integer> later = new HashMap<>();
        for (int i = prompts.size() - 1; i >= 0; i--) {
            Prompts.Prompt prompt = prompts.get(i);
            long[] blocks = prompt.all().toArray();
            next[i] = new int[blocks.length];
            for (int k = 0; k < blocks.length; k++) {
                next[i][k] = later.getOrDefault(blocks[k], prompts.size());
            }
            for (int k = 0; k < blocks.length; k++) {
                later.put(blocks[k], k < prompt.blocks().length ? i : prompts.size());
            }
        }
        return next;
    }
}
