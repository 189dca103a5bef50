/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import picocli.CommandLine.Command;

/** {@code tierlog audit operation}: what the log says about one operation. */
@Command(
        name = "operation",
        description = "Show every record of the log about one operation.",
        footer = {"", "A decision names the input that led to it.", StretchOptions.MOMENTS, HistoryOutput.EXIT_CODES})
final class AuditOperationCommand extends AuditIdCommand {
    @Override
    Subject subject(String name) {
        return new Subject.Operation(name);
    }
}
