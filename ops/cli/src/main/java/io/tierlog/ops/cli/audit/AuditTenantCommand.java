/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tierlog audit tenant}: what the log says about one tenant. */
@Command(
        name = "tenant",
        description = "Show what was decided for one tenant: requests, operations, placements, removals, quotas that were reached.",
        footer = {
            "",
            "A tenant is a namespace of blocks. ID is the namespace, or what follows one of its slashes: all namespaces that end with it.",
            StretchOptions.MOMENTS,
            HistoryOutput.EXIT_CODES
        })
final class AuditTenantCommand extends AuditIdCommand {
    @Option(names = "--all", description = "Every record that names it, events too.")
    boolean all;

    @Override
    Subject subject(String name) {
        return new Subject.Tenant(name, all);
    }
}
