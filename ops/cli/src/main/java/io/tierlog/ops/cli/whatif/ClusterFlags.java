/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.events.Causes;
import io.tierlog.events.config.Size;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.demo.SizeConverter;
import io.tierlog.ops.cli.policy.PolicyFile;
import io.tierlog.ops.whatif.log.RecordedLog;
import io.tierlog.ops.whatif.world.HardwareModel;
import io.tierlog.ops.whatif.world.ModelFields;
import io.tierlog.ops.whatif.world.Routing;
import io.tierlog.ops.whatif.world.WhatIfPlan;
import io.tierlog.schemas.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The cluster that a what-if runs, and how it varies: as flags. */
public final class ClusterFlags {
    /** The most variations of one command. */
    private static final int MOST_VARIATIONS = 1_000;

    private static final int CONCURRENCY = 4_096;
    private static final int PREFETCH_WAIT_MS = 200;

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            split = ",",
            description = "Policy documents (YAML), each a variation (default: the policy that a new cluster begins with; with --log the last of the"
                    + " log).")
    List<Path> policies = List.of();

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "Nodes, each with an agent and an engine (default: 2; with --log as many as it has).")
    @Nullable Integer nodes;

    @Option(
            names = "--host",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Host memory of each node: " + Size.HELP + " (default: 5%%; with --log as there).")
    @Nullable Size host;

    @Option(
            names = "--disk",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Disk tier of each node: " + Size.HELP + " (default: none; with --log as there).")
    @Nullable Size disk;

    @Option(
            names = "--device",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Device memory of each node: " + Size.HELP + " (default: 1%%, and no fewer blocks than the largest request needs; with"
                    + " --log as there).")
    @Nullable Size device;

    @Option(
            names = "--bytes-per-block",
            paramLabel = "BYTES",
            converter = SizeConverter.class,
            description = "Size of a block (default: 64MiB, 512 tokens of a model with 8 billion parameters; with --log that of its agents).")
    @Nullable Size bytesPerBlock;

    @Option(
            names = "--route",
            paramLabel = "HOW",
            description = "round-robin, sticky (a conversation stays on its node), prefix (to the node that has most of the prompt, by the"
                    + " directory) or recorded (as in the log) (default: sticky; with --log and without --nodes recorded).")
    @Nullable String route;

    @Option(
            names = "--speed",
            paramLabel = "X",
            description = "X times the workload's own pace, 0 for as fast as --concurrency allows (default: ${DEFAULT-VALUE}).")
    double speed = 1;

    @Option(names = "--concurrency", paramLabel = "N", description = "Requests in flight at most, over all nodes (default: ${DEFAULT-VALUE}).")
    int concurrency = CONCURRENCY;

    @Option(
            names = "--prefetch-wait-ms",
            paramLabel = "MS",
            description = "Longest time a request waits for a fetch (default: 200; with --log as there).")
    @Nullable Integer prefetchWaitMs;

    @Option(
            names = "--model",
            paramLabel = "FILE",
            description = "How long things take, as whatif calibrate writes it (default: as measured in the log of --log; else PCIe 5, an NVMe disk"
                    + " and a store over 25 Gbit/s). What the file does not have is as by default.")
    @Nullable Path model;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Another number of the model, for example --set store_read.latency_us=5000 or --set disk_read.bytes_per_second=3GiB.")
    Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--sweep",
            paramLabel = "KEY=V1,V2",
            description = "Vary nodes, host, disk, device, route, eviction-order (gaps or lru, of host and disk), prefetch-wait-ms,"
                    + " prefetch-threshold, speed, concurrency, or any number of the model, for example --sweep host=1%%,2%%,5%%."
                    + " Several sweeps are combined.")
    List<String> sweeps = List.of();

    @Option(
            names = "--gpu-hour-price",
            paramLabel = "PRICE",
            description = "Price of an hour of a GPU in any currency: adds what the hits save.")
    @Nullable Double gpuHourPrice;

    /**
     * What flags do not say.
     *
     * @param policy in force
     * @param tiers sizes
     * @param routing how requests are spread when --nodes does not say otherwise
     * @param prefetchWaitMs longest wait of a request for a fetch
     * @param model how long things take
     */
    record Defaults(Policy policy, Draft.Tiers tiers, Routing routing, int prefetchWaitMs, HardwareModel model) {
        /** Of a workload that no cluster has served. */
        static final Defaults NEW = new Defaults(
                Policies.INITIAL, new Draft.Tiers(2, new Size.OfShare(5), null, null, 64L << 20), Routing.STICKY, PREFETCH_WAIT_MS,
                HardwareModel.defaults());

        /** Of a log. */
        static Defaults of(RecordedLog.Recorded log) {
            Size disk = log.diskBlocks() == 0 ? null : new Size.OfBlocks(log.diskBlocks());
            Draft.Tiers tiers = new Draft.Tiers(
                    log.workload().nodes(), new Size.OfBlocks(log.hostBlocks()), disk, new Size.OfBlocks(log.devicePages()), log.blockBytes());
            return new Defaults(log.policy(), tiers, Routing.RECORDED, log.prefetchWaitMs(), log.model());
        }
    }

    /** A variation and what is special about it. */
    record Named(String name, Draft draft) {}

    /** All variations: policies times sweeps. */
    List<Named> variations(Defaults defaults) {
        List<Named> all = new ArrayList<>();
        if (policies.isEmpty()) {
            all.add(new Named("", draft(defaults, defaults.policy)));
        }
        for (Path policy : policies) {
            all.add(new Named(String.valueOf(policy.getFileName()), draft(defaults, PolicyFile.load(policy))));
        }
        for (String sweep : sweeps) {
            all = swept(all, sweep);
            if (all.size() > MOST_VARIATIONS) {
                throw new CliError(
                        "--sweep: these are more than " + MOST_VARIATIONS + " variations", "sweep fewer values at a time", CliError.BAD_INPUT);
            }
        }
        return all;
    }

    private static List<Named> swept(List<Named> before, String sweep) {
        int equals = sweep.indexOf('=');
        String key = sweep.substring(0, equals);
        List<Named> all = new ArrayList<>();
        for (Named one : before) {
            for (String value : sweep.substring(equals + 1).split(",", -1)) {
                all.add(new Named((one.name + " " + key + "=" + value).strip(), one.draft.with("--sweep", key, value)));
            }
        }
        return all;
    }

    private Draft draft(Defaults defaults, Policy policy) {
        Draft.Tiers usual = defaults.tiers;
        Draft.Tiers tiers = new Draft.Tiers(
                nodes == null ? usual.nodes() : nodes, host == null ? usual.host() : host, disk == null ? usual.disk() : disk,
                device == null ? usual.device() : device, blockBytes(usual.blockBytes()));
        Routing routing = route != null ? Draft.routing("--route", route) : nodes == null ? defaults.routing : Routing.STICKY;
        Draft draft = new Draft(
                policy, tiers, routing, pace(), prefetchWaitMs == null ? defaults.prefetchWaitMs : prefetchWaitMs,
                model(defaults.model));
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            draft = draft.with("--set", setting.getKey(), setting.getValue());
        }
        return draft;
    }

    private WhatIfPlan.Pace pace() {
        try {
            return new WhatIfPlan.Pace(concurrency, speed);
        } catch (IllegalArgumentException e) {
            throw new CliError("--concurrency and --speed: " + e.getMessage(), "look at: tierlog whatif --help", CliError.BAD_INPUT, e);
        }
    }

    private long blockBytes(long usual) {
        Size size = bytesPerBlock == null ? new Size.OfBytes(usual) : bytesPerBlock;
        if (size instanceof Size.OfBytes(long bytes)) {
            return bytes;
        }
        throw new CliError("--bytes-per-block is a number of bytes", "for example: --bytes-per-block 64MiB", CliError.BAD_INPUT);
    }

    /** That of {@code --model}; what the file does not have, and all without it, is as {@code usual}. */
    HardwareModel model(HardwareModel usual) {
        Path file = model;
        if (file == null) {
            return usual;
        }
        try {
            return ModelFields.read(Files.readString(file), usual);
        } catch (IOException e) {
            throw new CliError("--model: cannot read " + file + ": " + Causes.of(e), "tierlog whatif calibrate writes one", CliError.BAD_INPUT, e);
        } catch (IllegalArgumentException e) {
            throw new CliError("--model: " + file + " " + e.getMessage(), "tierlog whatif calibrate writes one", CliError.BAD_INPUT, e);
        }
    }
}
