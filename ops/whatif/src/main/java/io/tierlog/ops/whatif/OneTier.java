/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import io.tierlog.controller.core.retention.PrefixTier;
import io.tierlog.controller.core.retention.RetentionPolicies;
import io.tierlog.controller.core.retention.RetentionPolicy;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One tier under several policies and sizes. Hits are counted by prefix and request by request: a request's hits first, then all its blocks are used,
 * then the tier shrinks to its capacity. Static and without state; the same workload gives the same ratios.
 */
public final class OneTier {
    /** The LRU that others are measured by. */
    public static final String LRU = "lru";
    /** What nothing can exceed. */
    public static final String OPTIMUM = "optimum";

    private static final Map<String, String> REFERENCES = Map.of(
            LRU, "LRU over single blocks, no prefixes: what others are measured by",
            OPTIMUM, "knows the future (Bélády over prefix trees): no policy has more hits");

    private OneTier() {}

    /**
     * One policy at one size.
     *
     * @param capacity share of the unique blocks
     * @param policy its name
     * @param hitRatio share of the prompts' blocks that were hit, 0 to 1
     * @param cpuNanosPerUse processor time for each block of a request, the tier's own included
     * @param bytesPerBlock state of the policy for each block of the tier; 0 for {@link #LRU} and {@link #OPTIMUM}
     */
    public record Row(double capacity, String policy, double hitRatio, double cpuNanosPerUse, double bytesPerBlock) {}

    /** Names of all policies, in the order in which they are listed. */
    public static List<String> policies() {
        return Stream.concat(Stream.of(LRU, OPTIMUM), Stream.of(RetentionPolicies.values()).map(RetentionPolicies::text)).toList();
    }

    /** What policy {@code name} does, in half a line. */
    public static String description(String name) {
        return RetentionPolicies.of(name).map(RetentionPolicies::description).orElseGet(() -> REFERENCES.getOrDefault(name, ""));
    }

    /**
     * All policies at all sizes, size by size. Uses all cores.
     *
     * @param shares sizes of the tier as shares of the unique blocks, above 0 and up to 1
     * @param policies names of {@link #policies()}
     */
    public static List<Row> run(Prompts workload, List<Double> shares, List<String> policies) {
        return IntStream.range(0, shares.size() * policies.size())
                .parallel()
                .mapToObj(i -> run(workload, shares.get(i / policies.size()), policies.get(i % policies.size())))
                .toList();
    }

    /** The hit ratio of {@link #LRU} or {@link #OPTIMUM} in a tier of {@code capacity} blocks. */
    public static double reference(Prompts workload, int capacity, String name) {
        long hits = name.equals(LRU) ? PlainLru.hits(workload, capacity) : Optimum.hits(workload, capacity);
        return (double) hits / workload.accesses();
    }

    /** One policy at one size. */
    public static Row run(Prompts workload, double share, String policy) {
        int capacity = workload.blocks(share);
        long beganNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        double bytes = 0;
        long hits;
        if (policy.equals(LRU)) {
            hits = PlainLru.hits(workload, capacity);
        } else if (policy.equals(OPTIMUM)) {
            hits = Optimum.hits(workload, capacity);
        } else {
            RetentionPolicy made = RetentionPolicies.of(policy)
                    .orElseThrow(() -> new IllegalArgumentException("no policy " + policy))
                    .make(capacity);
            bytes = made.bytesPerBlock();
            hits = hits(workload, new PrefixTier(capacity, made));
        }
        long nanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - beganNanos;
        long uses = workload.prompts().stream().mapToLong(prompt -> prompt.blocks().length + prompt.generated().length).sum();
        return new Row(share, policy, (double) hits / workload.accesses(), (double) nanos / uses, bytes);
    }

    private static long hits(Prompts workload, PrefixTier tier) {
        long hits = 0;
        for (Prompts.Prompt prompt : workload.prompts()) {
            hits += tier.use(prompt.blocks(), prompt.whole(), prompt.generated(), prompt.atMs());
        }
        return hits;
    }
}
