/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.whatif.OneTier;
import io.tierlog.ops.whatif.Prompts;
import io.tierlog.ops.whatif.world.WhatIfPlan;
import io.tierlog.ops.whatif.world.WhatIfResult;
import io.tierlog.ops.whatif.world.WhatIfWorld;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Variations over one workload, side by side, as rows. Uses all cores. */
final class Comparison {
    private static final double MS_IN_S = 1_000;
    private static final double NANOS_IN_S = 1e9;
    private static final double SECONDS_IN_HOUR = 3_600;
    private static final double DIGITS = 10_000;

    private final Workload workload;
    private final Prompts prompts;
    private final OptionalDouble gpuHourPrice;

    Comparison(Workload workload, Prompts prompts, OptionalDouble gpuHourPrice) {
        this.workload = workload;
        this.prompts = prompts;
        this.gpuHourPrice = gpuHourPrice;
    }

    /** A row for each variation, in their order; {@code done} receives the number of each that has ended, from any thread. */
    ArrayNode rows(List<WhatIfPlan> plans, IntConsumer done) {
        ArrayNode rows = JsonNodeFactory.instance.arrayNode();
        IntStream.range(0, plans.size())
                .parallel()
                .mapToObj(i -> {
                    ObjectNode row = row(plans.get(i), WhatIfWorld.run(plans.get(i), workload));
                    done.accept(i);
                    return row;
                })
                .toList()
                .forEach(rows::add);
        return rows;
    }

    private ObjectNode row(WhatIfPlan plan, WhatIfResult result) {
        ObjectNode row = JsonNodeFactory.instance.objectNode();
        row.put("variation", plan.name());
        row.put("hit_ratio", round(result.hitRatio()));
        row.put("device", round(result.ratio(result.hits().device()))).put("host", round(result.ratio(result.hits().host())));
        row.put("disk", round(result.ratio(result.hits().disk()))).put("store", round(result.ratio(result.hits().store())));
        int pooled = pooled(plan.sizes());
        row.put("lru", round(OneTier.reference(prompts, pooled, OneTier.LRU)));
        row.put("optimum", round(OneTier.reference(prompts, pooled, OneTier.OPTIMUM)));
        row.put("ttft_p50_ms", round(result.firstToken().p50())).put("ttft_p90_ms", round(result.firstToken().p90()));
        row.put("ttft_p99_ms", round(result.firstToken().p99()));
        double savedSeconds = result.savedTokens() * (double) plan.model().engine().prefillNanosPerToken() / NANOS_IN_S;
        row.put("prefill_s_saved", round(savedSeconds)).put("gpu_hours_saved", round(savedSeconds / SECONDS_IN_HOUR));
        gpuHourPrice.ifPresent(price -> row.put("money_saved", round(savedSeconds / SECONDS_IN_HOUR * price)));
        moved(row, result.moved());
        removed(row, result.removed());
        row.put("last_copies_lost", result.pressure().lastCopiesLost()).put("high_marks", result.pressure().waterLevels());
        row.put("quotas_exceeded", result.pressure().quotaExceeded()).put("most_host_pins", result.pressure().mostPins());
        row.put("refused_calls", result.pressure().refusedCalls()).put("rejected", result.rejected());
        return row.put("virtual_s", round(result.virtualMs() / MS_IN_S));
    }

    /** Blocks of the devices, hosts and disks of all nodes together. */
    private static int pooled(WhatIfPlan.Sizes sizes) {
        long blocks = (long) sizes.nodes() * ((long) sizes.devicePages() + sizes.hostBlocks() + sizes.diskBlocks());
        return (int) Math.min(Integer.MAX_VALUE, blocks);
    }

    private static void moved(ObjectNode row, WhatIfResult.Moved moved) {
        row.put("loaded_bytes", moved.loaded()).put("saved_bytes", moved.saved());
        row.put("store_read_bytes", moved.storeRead()).put("store_written_bytes", moved.storeWritten());
        row.put("disk_read_bytes", moved.diskRead()).put("disk_written_bytes", moved.diskWritten());
        row.put("disk_writes_per_saved_byte", round(moved.saved() == 0 ? 0 : (double) moved.diskWritten() / moved.saved()));
    }

    private static void removed(ObjectNode row, Map<WhatIfResult.Removed, Long> removed) {
        row.put("evicted_from_host", evicted(removed, Tier.HOST)).put("evicted_from_disk", evicted(removed, Tier.DISK));
        TreeMap<String, Long> reasons = new TreeMap<>();
        removed.forEach((why, blocks) -> {
            if (why.tier() != Tier.DEVICE && why.reason() != RemovalReason.UNKNOWN) {
                reasons.merge((why.tier() + " " + why.reason()).toLowerCase(Locale.ROOT), blocks, Long::sum);
            }
        });
        row.put("evictions_by_reason", reasons.entrySet().stream().map(one -> one.getKey() + " " + one.getValue()).collect(Collectors.joining(", ")));
    }

    private static long evicted(Map<WhatIfResult.Removed, Long> removed, Tier tier) {
        return removed.entrySet().stream().filter(entry -> entry.getKey().tier() == tier).mapToLong(Map.Entry::getValue).sum();
    }

    private static double round(double value) {
        return Math.round(value * DIGITS) / DIGITS;
    }
}
