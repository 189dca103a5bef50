/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.cli.command.OutputFormat;
import picocli.CommandLine.Option;

/** Which log a command reads, and how it prints. */
public final class AuditOptions extends LogChoice {
    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;
}
