/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.google.protobuf.ByteString;
import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.engine.EngineNode;
import io.tierlog.ops.engine.ReplayConfig;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.engine.workload.WorkloadProfile;
import io.tierlog.schemas.Bytes;
import java.nio.file.Path;
import java.util.List;

/** Makes the replay's configuration from the flags. Static and without state. */
final class ReplayPlan {
    /** An agent that is busy answers that much after its prefetch wait at the latest. */
    private static final long READY_SLACK_MS = 800;

    private ReplayPlan() {}

    /** How long engines wait for agents that let a request wait for {@code prefetchWaitMs}. */
    static Timeouts patience(ReplayConfig plan, int prefetchWaitMs) {
        return plan.timeouts().withReadyMs(prefetchWaitMs + READY_SLACK_MS);
    }

    static ReplayConfig of(
            String run, DemoOptions options, Workload workload, WorkloadProfile profile, List<EngineNode> nodes, Path memory) {
        int pages = options.devicePages(profile.uniqueBlocks());
        if (pages < profile.maxPages()) {
            throw new CliError(
                    "--device comes to " + pages + " blocks, and the largest request needs " + profile.maxPages(),
                    "give at least --device " + profile.maxPages() + "blocks",
                    CliError.BAD_INPUT);
        }
        Bytes digest = Layouts.layoutDigest(Layouts.opaque(options.blockBytes(), workload.blockTokens()));
        ReplayConfig config = ReplayConfig.of(
                run,
                workload,
                nodes,
                new ReplayConfig.Device(memory, pages, options.blockBytes(), !options.noDeviceRetention),
                new ReplayConfig.Identity(options.model, ByteString.copyFrom(digest.asByteBuffer())));
        return config.withRouter(options.route)
                .withTraced(options.otlpEndpoint != null)
                .withPacing(options.pacing(profile.durationMs()));
    }
}
