/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.cli.command.CommandGroup;
import picocli.CommandLine.Command;

/** {@code tierlog audit}: commands that read a log. */
@Command(
        name = "audit",
        description = "Ask a log: verify it, decide it again, show its statistics, its tables at a moment, or what it says about a block or request.",
        subcommands = {
            AuditArchiveCommand.class,
            AuditBlockCommand.class,
            AuditExportCommand.class,
            AuditMigrationCommand.class,
            AuditNodeCommand.class,
            AuditOperationCommand.class,
            AuditRequestCommand.class,
            AuditRerunCommand.class,
            AuditStateCommand.class,
            AuditStatsCommand.class,
            AuditTenantCommand.class,
            AuditVerifyCommand.class
        })
public final class AuditCommand extends CommandGroup {}
