/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import picocli.CommandLine.Command;

/** {@code tierlog audit request}: what the log says about one request. */
@Command(
        name = "request",
        description = "Show every record of the log about one request.",
        footer = {"", "It shows all attempts, and the operations that served them.", HistoryOutput.EXIT_CODES})
final class AuditRequestCommand extends AuditIdCommand {
    @Override
    Subject subject(String name) {
        return new Subject.Request(name);
    }
}
