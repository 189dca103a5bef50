/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.config.Size;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.engine.ReplayConfig;
import io.tierlog.ops.engine.RouterKind;
import io.tierlog.ops.engine.workload.ConversationParameters;
import io.tierlog.ops.engine.workload.ConversationWorkload;
import io.tierlog.ops.engine.workload.TraceError;
import io.tierlog.ops.engine.workload.TraceFile;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.traces.TraceOptions;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What is replayed, and on what: the flags that {@code demo} and {@code engine} share. */
public final class DemoOptions {
    /** A recorded hour in five minutes. */
    private static final double TRACE_PACE = 12;

    private static final Size DEVICE_SHARE = new Size.OfShare(1);

    private static final int LEAST_DEVICE_BLOCKS = 90;

    private static final int GENERATED_REQUESTS = 2_500;

    /** Shorter traces are replayed as fast as they go. */
    private static final long TRACE_TAKES_MS = 10_000;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "Replay this trace (Mooncake JSONL). Default: a generated workload of multi-turn conversations.")
    @Nullable Path trace;

    @Option(names = "--requests", paramLabel = "N", description = "Requests to replay (default: all of the trace, or 2500 generated ones).")
    @Nullable Integer requests;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of the generated workload (default: ${DEFAULT-VALUE}).")
    long seed = ConversationParameters.defaults().seed();

    @Option(
            names = "--flood",
            paramLabel = "N",
            description = "One more tenant floods the generated workload: N requests for each of the others', all with long prompts that are"
                    + " never sent again (default: ${DEFAULT-VALUE}).")
    int flood;

    @Option(
            names = "--speed",
            paramLabel = "X",
            description = "Replay at X times the workload's own pace, 0 for as fast as --concurrency allows (default: 12 for a trace, which"
                    + " makes an hour five minutes; 0 for the generated workload).")
    @Nullable Double speed;

    @Option(
            names = "--concurrency",
            paramLabel = "N",
            description = "Requests in flight at most, over all nodes (default: 32, and 96 for a trace, which comes at its own pace).")
    @Nullable Integer concurrency;

    @Option(
            names = "--route",
            paramLabel = "HOW",
            description = "${COMPLETION-CANDIDATES}: how requests are spread over nodes (default: ${DEFAULT-VALUE}).")
    RouterKind route = RouterKind.AFFINITY;

    @Option(
            names = "--bytes-per-block",
            paramLabel = "BYTES",
            converter = SizeConverter.class,
            description = "Size of a block, a multiple of 512 bytes (default: 16KiB).")
    Size bytesPerBlock = new Size.OfBytes(16 << 10);

    @Option(
            names = "--device",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Device memory of each node: " + Size.HELP + " (default: 1%%, and no fewer than 90 blocks).")
    @Nullable Size device;

    @Option(
            names = "--prefill-us-per-token",
            paramLabel = "US",
            description = "Modelled cost of computing one prompt token, in microseconds; "
                    + "counted in the time to first token, not slept (default: ${DEFAULT-VALUE}).")
    long prefillMicrosPerToken = 100;

    @Option(
            names = "--decode-us-per-token",
            paramLabel = "US",
            description = "Time to generate one token, in microseconds; slept, so requests stay in flight (default: ${DEFAULT-VALUE}).")
    long decodeMicrosPerToken = 2_000;

    @Option(names = "--no-device-retention", description = "Engines keep nothing of ended requests: shows what the lower tiers alone give.")
    boolean noDeviceRetention;

    @Option(
            names = "--otlp-endpoint",
            paramLabel = "URL",
            description = "Trace every request, and send the spans of agents and controller to this collector, by OTLP over HTTP: http://HOST:4318"
                    + " (default: no spans).")
    @Nullable String otlpEndpoint;

    @Option(names = "--model", paramLabel = "NAME", description = "Namespace of the blocks: model, revision, dtype (default: ${DEFAULT-VALUE}).")
    String model = "demo-model/main/bf16";

    /** The workload these flags name. */
    Workload workload() {
        try {
            if (trace != null && flood > 0) {
                throw new CliError("--flood goes with the generated workload, not with --trace", "leave one of them out", CliError.BAD_INPUT);
            }
            if (trace != null) {
                return TraceFile.read(trace, requests == null ? OptionalInt.empty() : OptionalInt.of(requests));
            }
            ConversationParameters parameters = ConversationParameters.defaults()
                    .withSeed(seed)
                    .withRequests(GENERATED_REQUESTS)
                    .withFlood(flood);
            return ConversationWorkload.of(requests == null ? parameters : parameters.withRequests(requests));
        } catch (TraceError e) {
            throw new CliError(
                    e.getMessage(),
                    "--trace wants one JSON object per line: timestamp, input_length, output_length, hash_ids",
                    CliError.BAD_INPUT,
                    e);
        }
    }

    /** Where spans go; empty when requests are not traced. */
    Optional<URI> collector() {
        try {
            return Optional.ofNullable(otlpEndpoint).map(TraceOptions::endpoint);
        } catch (IllegalArgumentException e) {
            throw new CliError("--otlp-endpoint: " + e.getMessage(), "leave it out for no spans", CliError.BAD_INPUT, e);
        }
    }

    /** How fast, and how many at a time. */
    ReplayConfig.Pacing pacing(long durationMs) {
        int atATime = concurrency != null ? concurrency : trace == null ? 32 : 96;
        return new ReplayConfig.Pacing(atATime, pace(durationMs), prefillMicrosPerToken, decodeMicrosPerToken);
    }

    /** The pace: times the workload's own, or empty for as fast as the concurrency allows. */
    private OptionalDouble pace(long durationMs) {
        if (speed != null) {
            return speed == 0 ? OptionalDouble.empty() : OptionalDouble.of(speed);
        }
        return trace == null || durationMs <= TRACE_TAKES_MS ? OptionalDouble.empty() : OptionalDouble.of(TRACE_PACE);
    }

    /** Size of a block in bytes. */
    long blockBytes() {
        long bytes = bytesPerBlock instanceof Size.OfBytes(long given) ? given : 0;
        if (bytes < 512 || bytes > 64 << 20 || bytes % 512 != 0) {
            throw new CliError(
                    "--bytes-per-block must be a multiple of 512 bytes from 512 to 64MiB",
                    "for example: --bytes-per-block 16KiB",
                    CliError.BAD_INPUT);
        }
        return bytes;
    }

    /** Device pages of each node. */
    int devicePages(long uniqueBlocks) {
        if (device != null) {
            return blocks("--device", device, uniqueBlocks);
        }
        // A share of a short workload would be a handful of pages, and requests would stand in line for them.
        return Math.max(LEAST_DEVICE_BLOCKS, blocks("--device", DEVICE_SHARE, uniqueBlocks));
    }

    /** Blocks of a tier whose size was given as {@code size}. */
    int blocks(String flag, Size size, long uniqueBlocks) {
        try {
            return size.toBlocks(blockBytes(), uniqueBlocks);
        } catch (IllegalArgumentException e) {
            throw new CliError(flag + ": " + e.getMessage(), "give " + Size.SYNTAX, CliError.BAD_INPUT, e);
        }
    }

    /** These flags again, for another process. */
    List<String> asArguments() {
        List<String> arguments = new ArrayList<>();
        if (trace != null) {
            arguments.addAll(List.of("--trace", trace.toString()));
        }
        if (requests != null) {
            arguments.addAll(List.of("--requests", requests.toString()));
        }
        if (speed != null) {
            arguments.addAll(List.of("--speed", speed.toString()));
        }
        if (concurrency != null) {
            arguments.addAll(List.of("--concurrency", concurrency.toString()));
        }
        if (device != null) {
            arguments.addAll(List.of("--device", device.text()));
        }
        if (otlpEndpoint != null) {
            arguments.addAll(List.of("--otlp-endpoint", otlpEndpoint));
        }
        if (noDeviceRetention) {
            arguments.add("--no-device-retention");
        }
        arguments.addAll(List.of(
                "--seed", String.valueOf(seed),
                "--flood", String.valueOf(flood),
                "--route", route.name(),
                "--bytes-per-block", blockBytes() + "B",
                "--prefill-us-per-token", String.valueOf(prefillMicrosPerToken),
                "--decode-us-per-token", String.valueOf(decodeMicrosPerToken),
                "--model", model));
        return arguments;
    }
}
