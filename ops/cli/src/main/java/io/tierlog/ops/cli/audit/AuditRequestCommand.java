/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import picocli.CommandLine.Command;

/** {@code tierlog audit request}: what the log says about one request. */
@Command(
        name = "request",
        description = "Show the steps of one request, what became of each block of its prompt and why, and its records.",
        footer = {"", "It shows all attempts, and the operations that served them.", StretchOptions.MOMENTS, HistoryOutput.EXIT_CODES})
final class AuditRequestCommand extends AuditIdCommand {
    @Override
    Subject subject(String name) {
        return new Subject.Request(name);
    }
}
