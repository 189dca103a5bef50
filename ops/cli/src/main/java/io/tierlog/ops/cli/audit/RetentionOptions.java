/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.snapshot.LogTrim;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Option;

/** What is kept of a log although it is before a snapshot. Confined to the command's thread. */
final class RetentionOptions {
    private static final long MIB = 1 << 20;

    @Option(names = "--keep-hours", paramLabel = "N", description = "Keep records of the last N hours (default: ${DEFAULT-VALUE}).")
    int keepHours = 24;

    @Option(names = "--keep-mb", paramLabel = "MIB",
            description = "Keep the last N MiB of events and decisions, as the brokers store one replica (default: ${DEFAULT-VALUE}).")
    int keepMb;

    /** At this time, milliseconds since 1970. */
    LogTrim.Retention at(long nowMs) {
        return new LogTrim.Retention(nowMs - TimeUnit.HOURS.toMillis(keepHours), keepMb * MIB);
    }
}
