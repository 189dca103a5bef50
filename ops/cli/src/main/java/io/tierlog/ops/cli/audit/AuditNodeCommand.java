/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tierlog audit node}: what the log says about one node. */
@Command(
        name = "node",
        description = "Show what was decided about one node: incarnations, engines, watermarks, quotas, drains, refused and overdue work.",
        footer = {"", StretchOptions.MOMENTS, HistoryOutput.EXIT_CODES})
final class AuditNodeCommand extends AuditIdCommand {
    @Option(names = "--all", description = "Every record about it, those of its requests, operations and blocks too.")
    boolean all;

    @Override
    Subject subject(String name) {
        return new Subject.Node(name, all);
    }
}
