/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import io.tierlog.controller.core.api.Limits;
import io.tierlog.events.config.Size;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.engine.workload.WorkloadProfile;
import io.tierlog.ops.policy.Finding;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.ops.policy.Reading;
import io.tierlog.ops.whatif.world.HardwareModel;
import io.tierlog.ops.whatif.world.ModelFields;
import io.tierlog.ops.whatif.world.Routing;
import io.tierlog.ops.whatif.world.WhatIfPlan;
import io.tierlog.schemas.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A variation as flags give it, before the workload is known. Immutable.
 *
 * @param policy of the controller
 * @param tiers sizes
 * @param routing how requests are spread
 * @param pace how fast requests come
 * @param prefetchWaitMs longest wait of a request for a fetch
 * @param model how long things take
 */
record Draft(Policy policy, Tiers tiers, Routing routing, WhatIfPlan.Pace pace, int prefetchWaitMs, HardwareModel model) {
    /** What a key without a point may be. */
    private static final List<String> KEYS =
            List.of("nodes", "host", "disk", "device", "route", "eviction-order", "prefetch-wait-ms", "prefetch-threshold", "speed", "concurrency");

    /** As the policy document names them. */
    private static final List<String> EVICTION_ORDERS =
            PolicyDocument.EVICTION_ORDERS.stream().map(order -> order.name().toLowerCase(Locale.ROOT)).toList();

    private static final int LEAST_DEVICE_BLOCKS = 90;
    private static final double DEVICE_PERCENT = 1;

    /**
     * Sizes of each node.
     *
     * @param disk null for no disk tier
     * @param device null for the usual share
     */
    record Tiers(int nodes, Size host, @Nullable Size disk, @Nullable Size device, long blockBytes) {}

    /** Everything that {@link #with} can set. */
    static List<String> keys() {
        List<String> keys = new ArrayList<>(KEYS);
        keys.addAll(ModelFields.names());
        return keys;
    }

    Draft with(Policy other) {
        return new Draft(other, tiers, routing, pace, prefetchWaitMs, model);
    }

    private Draft with(Tiers other) {
        return new Draft(policy, other, routing, pace, prefetchWaitMs, model);
    }

    private Draft with(WhatIfPlan.Pace other) {
        return new Draft(policy, tiers, routing, other, prefetchWaitMs, model);
    }

    /**
     * A copy in which a key has another value.
     *
     * @param flag for errors
     */
    Draft with(String flag, String key, String value) {
        try {
            return switch (Names.one(flag, key, keys())) {
                case "nodes" -> with(new Tiers(number(value), tiers.host, tiers.disk, tiers.device, tiers.blockBytes));
                case "host" -> with(new Tiers(tiers.nodes, Size.parse(value), tiers.disk, tiers.device, tiers.blockBytes));
                case "disk" -> with(new Tiers(tiers.nodes, tiers.host, value.equals("none") ? null : Size.parse(value), tiers.device,
                        tiers.blockBytes));
                case "device" -> with(new Tiers(tiers.nodes, tiers.host, tiers.disk, Size.parse(value), tiers.blockBytes));
                case "route" -> new Draft(policy, tiers, routing(flag, value), pace, prefetchWaitMs, model);
                case "eviction-order" -> {
                    String order = Names.one(flag + " " + key, value, EVICTION_ORDERS);
                    yield with(changed("tiers: {host: {order: " + order + "}, disk: {order: " + order + "}}"));
                }
                case "prefetch-wait-ms" -> new Draft(policy, tiers, routing, pace, number(value), model);
                case "prefetch-threshold" -> with(changed("prefetch_threshold: " + number(value)));
                case "speed" -> with(new WhatIfPlan.Pace(pace.concurrency(), Double.parseDouble(value)));
                case "concurrency" -> with(new WhatIfPlan.Pace(number(value), pace.speed()));
                default -> new Draft(policy, tiers, routing, pace, prefetchWaitMs, ModelFields.with(model, key, amount(value)));
            };
        } catch (NumberFormatException e) {
            throw new CliError(
                    flag + " " + key + ": '" + value + "' is not a number", "write for example " + flag + " nodes=2", CliError.BAD_INPUT, e);
        } catch (IllegalArgumentException e) {
            throw new CliError(flag + " " + key + ": " + e.getMessage(), "look at: tierlog whatif --help", CliError.BAD_INPUT, e);
        }
    }

    /** Whole, or with a unit of bytes. */
    private static long amount(String value) {
        return value.matches("\\d{1,18}") ? Long.parseLong(value) : Size.parse(value) instanceof Size.OfBytes(long bytes) ? bytes : number(value);
    }

    private static int number(String value) {
        return Integer.parseInt(value);
    }

    static Routing routing(String flag, String value) {
        List<Routing> all = List.of(Routing.values());
        List<String> names = all.stream().map(Routing::text).toList();
        return all.get(names.indexOf(Names.one(flag, value, names)));
    }

    private Policy changed(String field) {
        return switch (PolicyDocument.read(field, policy, Limits.DEFAULTS)) {
            case Reading.Valid(Policy valid) -> valid;
            case Reading.Unreadable(Finding finding) -> throw new IllegalArgumentException(finding.toString());
            case Reading.Invalid(List<Finding> findings) -> throw new IllegalArgumentException(
                    findings.stream().map(Finding::toString).collect(Collectors.joining("; ")));
        };
    }

    /** The variation for a workload. */
    WhatIfPlan plan(String name, WorkloadProfile workload) {
        int device = tiers.device == null
                ? Math.max(LEAST_DEVICE_BLOCKS, blocks("device", new Size.OfShare(DEVICE_PERCENT), workload))
                : blocks("device", tiers.device, workload);
        if (device < workload.maxPages()) {
            if (tiers.device != null) {
                throw new CliError("--device comes to " + device + " blocks, and the largest request needs " + workload.maxPages(),
                        "give at least --device " + workload.maxPages() + "blocks", CliError.BAD_INPUT);
            }
            device = workload.maxPages();
        }
        try {
            WhatIfPlan.Sizes sizes = new WhatIfPlan.Sizes(
                    tiers.nodes, blocks("host", tiers.host, workload), tiers.disk == null ? 0 : blocks("disk", tiers.disk, workload), device, true,
                    tiers.blockBytes);
            return new WhatIfPlan(name, policy, sizes, routing, pace, prefetchWaitMs, model);
        } catch (IllegalArgumentException e) {
            throw new CliError(name + ": " + e.getMessage(), "look at: tierlog whatif --help", CliError.BAD_INPUT, e);
        }
    }

    private int blocks(String key, Size size, WorkloadProfile workload) {
        try {
            return size.toBlocks(tiers.blockBytes, workload.uniqueBlocks());
        } catch (IllegalArgumentException e) {
            throw new CliError("--" + key + ": " + e.getMessage(), "give " + Size.SYNTAX, CliError.BAD_INPUT, e);
        }
    }
}
