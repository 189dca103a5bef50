/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import picocli.CommandLine.Command;

/** {@code tierlog audit migration}: what the log says about one migration. */
@Command(
        name = "migration",
        description = "Show every record of the log about one migration.",
        footer = {
            "",
            "It shows the order, the messages to and from the nodes, and the operations that it began.",
            StretchOptions.MOMENTS,
            HistoryOutput.EXIT_CODES
        })
final class AuditMigrationCommand extends AuditIdCommand {
    @Override
    Subject subject(String name) {
        return new Subject.Migration(name);
    }
}
