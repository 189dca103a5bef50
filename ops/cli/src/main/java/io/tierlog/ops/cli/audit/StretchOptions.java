/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.Stretch;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The stretch of a log that a command is about: the flags that such commands share. */
final class StretchOptions {
    /** What a moment is, for the help. */
    static final String MOMENTS = "MOMENT: PARTITION:OFFSET of a decision, TOPIC-PARTITION@OFFSET as printed, a time (2026-01-31T12:00:00Z), or end.";

    @Option(names = "--from", paramLabel = "MOMENT", description = "Only records from this moment on (default: the beginning).")
    @Nullable String from;

    @Option(names = "--to", paramLabel = "MOMENT", description = "Only records up to this moment (default: the end).")
    @Nullable String to;

    /** The stretch; a moment that cannot be read is an {@link io.tierlog.ops.audit.AuditException}. */
    Stretch stretch(Topics topics) {
        return new Stretch(Optional.ofNullable(from).map(text -> Moment.parse("--from", text, topics)),
                Optional.ofNullable(to).map(text -> Moment.parse("--to", text, topics)));
    }
}
