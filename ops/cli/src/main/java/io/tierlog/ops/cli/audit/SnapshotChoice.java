/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.LogStart;
import io.tierlog.ops.audit.Moment;
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
            description = "Begin at a snapshot: that directory itself, or the last one in it, for a moment the last one before it"
                    + " (default: at the beginning of the log).")
    @Nullable Path snapshot;

    /**
     * Where to begin.
     *
     * @throws io.tierlog.ops.audit.AuditException when there is no such snapshot, or it is of another log
     */
    LogStart start(LogSource source, Topics topics) {
        return snapshot == null ? LogStart.BEGINNING : of(SnapshotDirectory.find(snapshot), source, topics);
    }

    /** As the other, for a question about a moment: a directory of snapshots may have later ones. */
    LogStart start(LogSource source, Topics topics, Moment moment) {
        return snapshot == null ? LogStart.BEGINNING : of(SnapshotDirectory.find(snapshot, moment), source, topics);
    }

    /** Whether a snapshot was named. */
    boolean isChosen() {
        return snapshot != null;
    }

    private static LogStart of(Snapshot found, LogSource source, Topics topics) {
        found.requireOf(topics, source.partitions(topics.events()));
        return found;
    }
}
