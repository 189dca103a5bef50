/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page {@code docs/policies.md}: every policy on every workload and size, what it costs, and where Tierlog's own loses. One thread, since it
 * measures processor time; all else is the same in every run. Static and without state.
 */
public final class PolicyReport {
    private static final List<Double> SHARES = List.of(0.01, 0.02, 0.05, 0.10, 0.25, 0.50);
    /** The policies whose losses are listed. */
    private static final List<String> OWN = List.of("default", "turns");

    private PolicyReport() {}

    /**
     * A workload of the page.
     *
     * @param name its heading
     * @param description half a line
     * @param prompts its requests
     */
    public record Subject(String name, String description, Prompts prompts) {}

    /** The page, line by line. */
    public static List<String> of(List<Subject> subjects) {
        Map<Subject, List<OneTier.Row>> rows = new LinkedHashMap<>();
        for (Subject subject : subjects) {
            rows.put(subject, SHARES.stream()
                    .flatMap(share -> OneTier.policies().stream().map(policy -> OneTier.run(subject.prompts(), share, policy)))
                    .toList());
        }
        List<String> page = new ArrayList<>(HEAD.lines().toList());
        page.add("");
        page.addAll(costs(rows.values().stream().flatMap(List::stream).toList()));
        for (String own : OWN) {
            page.addAll(List.of("", "## Where `" + own + "` loses", ""));
            page.addAll(losses(rows, own));
        }
        page.addAll(List.of("", "## Hit ratios", ""));
        page.add("Sizes are shares of the unique blocks of each workload.");
        rows.forEach((subject, found) -> page.addAll(table(subject, found)));
        return page;
    }

    private static final String HEAD = """
            # Retention policies

            Which blocks should a full tier keep? This page compares policies over one tier. It is the output of one command, and the trace is
            the conversation trace of the Mooncake FAST'25 release:

            ```sh
            ops/tierlog whatif --report --trace conversation_trace.jsonl > docs/policies.md
            ops/tierlog whatif --trace FILE --one-tier 1%,5%,10%,25% --policies all --format json
            ops/tierlog whatif --workload scans --one-tier 5% --policies lru,default,turns,optimum
            ```

            ## What is counted

            A request is atomic. The leading blocks of its prompt that the tier holds are its hits; then the tier takes all its blocks, those
            that it generates too where the workload knows them; then blocks leave until the tier is no larger than its capacity. A policy that
            does not admit a block lets it leave at once. The hit ratio is the hits by the blocks of all prompts. Capacity is a share of the
            unique blocks, to the nearest block. Every policy but `lru` keeps the order of prefixes: no block leaves before one that extends it.

            - `lru` is the reference of the literature: it knows blocks, not prefixes, and a request uses its blocks from the first to the last.
            - `optimum` is Bélády's rule over prefix trees: after each request it keeps the blocks whose next prompt comes soonest, and none
              that no prompt has again. A block's next prompt is never later than that of a block that extends it, so the rule keeps prefixes
              whole, and no policy has more hits.
            - `default` is the eviction order of the controller, `gaps`, by the controller's own function. A use delays a block's turn by the gap
              since the use before it: four gaps where prompts branch, half a gap at the end of a conversation. It remembers nothing of what
              has left. Partial blocks leave first, for the controller never places one. Where a tier has a store below, the controller lets
              blocks go first that the store has; one tier does not show that.
            - `lru-leaves` is the order `lru`, which a policy document may choose instead: coldest leaf first, among equals the deeper one.
            - `turns` is Tierlog's own, for `whatif` alone. A block's uses delay its turn to leave: the n-th use by min(n - 1, 6) mean gaps
              between uses, learned from the stream, at a rate of 0 (LRU), 25, 50 or 100 %. The rates compete: the tier of each is kept as a
              list of blocks, and the one with most hits of late is in force. What left is remembered for 8 capacities. Partial blocks leave
              first where they rarely come back.
            - `s3-fifo`, `sieve`, `arc`, `tinylfu` and `gdsf` are the published policies, over leaves. `gdsf` takes the cost of a block from
              its depth: attention over what is before it makes it dearer.

            Policies are objects without clock, thread or chance in
            [retention](../controller/core/src/main/java/io/tierlog/controller/core/retention) of the controller core. A policy document
            chooses between `lru` and `gaps` ([policy](policy.md)); the others do not fit rows.

            The aims on the conversation trace were 0.15, 0.28 and 0.33 at 1, 5 and 10 %, and no less than `lru` at any size. `default` does not
            reach the first three, and at 25 % it is just below `lru`; the table below has the distances.

            ## What it costs

            Processor time for each block of a request, the tier's tree included: the mean over all workloads and sizes below, on one core of
            the machine that wrote this page. State is for each block of a full tier, reckoned from the size of its entries, ghosts included.
            """;

    private static List<String> costs(List<OneTier.Row> rows) {
        List<String> lines = new ArrayList<>(List.of("| policy | ns a use | bytes a block |", "|---|---|---|"));
        for (String policy : OneTier.policies()) {
            double bytes = mean(rows, policy, OneTier.Row::bytesPerBlock);
            lines.add(String.format(Locale.ROOT, "| `%s` | %.0f | %s |", policy, mean(rows, policy, OneTier.Row::cpuNanosPerUse),
                    bytes == 0 ? "-" : String.format(Locale.ROOT, "%.0f", bytes)));
        }
        return lines;
    }

    private static double mean(List<OneTier.Row> rows, String policy, ToDoubleFunction<OneTier.Row> number) {
        return rows.stream().filter(row -> row.policy().equals(policy)).mapToDouble(number).average().orElse(0);
    }

    /** Where it has fewer hits than {@code lru}, and where another policy has more by a percent of the accesses. */
    private static List<String> losses(Map<Subject, List<OneTier.Row>> rows, String policy) {
        List<String> toLru = new ArrayList<>();
        List<String> toOthers = new ArrayList<>();
        rows.forEach((subject, found) -> found.stream().filter(row -> row.policy().equals(policy)).forEach(own -> {
            String where = subject.name() + " at " + percent(own.capacity());
            double lru = ratio(found, own.capacity(), OneTier.LRU);
            if (own.hitRatio() < lru) {
                toLru.add(String.format(Locale.ROOT, "%s (%.4f)", where, own.hitRatio() - lru));
            }
            OneTier.Row best = found.stream()
                    .filter(row -> row.capacity() == own.capacity() && !row.policy().equals(OneTier.OPTIMUM))
                    .max(Comparator.comparingDouble(OneTier.Row::hitRatio))
                    .orElse(own);
            if (best.hitRatio() > own.hitRatio() + 0.01) {
                toOthers.add(String.format(Locale.ROOT, "%s to `%s` (%.4f)", where, best.policy(), own.hitRatio() - best.hitRatio()));
            }
        }));
        List<String> lines = new ArrayList<>();
        lines.add("Less than `lru`:");
        lines.addAll(list(toLru));
        lines.addAll(List.of("", "More than 0.01 behind another policy:"));
        lines.addAll(list(toOthers));
        return lines;
    }

    private static List<String> list(List<String> items) {
        return items.isEmpty() ? List.of("nowhere.") : Stream.concat(Stream.of(""), items.stream().map(item -> "- " + item)).toList();
    }

    private static List<String> table(Subject subject, List<OneTier.Row> rows) {
        Prompts prompts = subject.prompts();
        List<String> lines = new ArrayList<>(List.of("", "### " + subject.name(), ""));
        lines.add(subject.description() + ":");
        lines.add(prompts.prompts().size() + " requests, " + prompts.accesses() + " block accesses, " + prompts.uniqueBlocks() + " unique blocks.");
        lines.add("");
        lines.add(SHARES.stream().map(PolicyReport::percent).collect(Collectors.joining(" | ", "| policy | ", " |")));
        lines.add("|---".repeat(SHARES.size() + 1) + "|");
        for (String policy : OneTier.policies()) {
            lines.add(SHARES.stream()
                    .map(share -> String.format(Locale.ROOT, "%.4f", ratio(rows, share, policy)))
                    .collect(Collectors.joining(" | ", "| `" + policy + "` | ", " |")));
        }
        return lines;
    }

    private static double ratio(List<OneTier.Row> rows, double share, String policy) {
        return rows.stream()
                .filter(row -> row.capacity() == share && row.policy().equals(policy))
                .mapToDouble(OneTier.Row::hitRatio)
                .findFirst()
                .orElseThrow();
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.0f %%", share * 100);
    }
}
