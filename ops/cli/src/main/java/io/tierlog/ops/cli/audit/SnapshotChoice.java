/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where a command begins in a log whose first records were trimmed. */
final class SnapshotChoice {
    @Option(
            names = "--snapshot",
            paramLabel = "DIR",
            description = "Begin at a snapshot: that directory itself, or the last one in it (default: at the beginning of the log).")
    @Nullable Path snapshot;

    /**
     * Where to begin.
     *
     * @throws io.tierlog.ops.audit.AuditException when there is no such snapshot, or it is of another log
     */
    LogStart start(LogSource source, Topics topics) {
        if (snapshot == null) {
            return LogStart.BEGINNING;
        }
        Snapshot found = SnapshotDirectory.find(snapshot);
        found.requireOf(topics, source.partitions(topics.events()));
        return found;
    }
}
