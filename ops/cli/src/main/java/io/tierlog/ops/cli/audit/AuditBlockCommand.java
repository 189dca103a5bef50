/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import java.util.HexFormat;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tierlog audit block}: where a block was, and why it left. */
@Command(
        name = "block",
        description = "Show every record of the log about one block, and where it serves.",
        footer = {
            "",
            "A decision names the input that led to it. Where a block leaves a tier, the watermark that was reached there is shown with its numbers.",
            StretchOptions.MOMENTS,
            HistoryOutput.EXIT_CODES
        })
final class AuditBlockCommand implements Callable<Integer> {
    private static final int SHORTEST = 8;
    private static final int LONGEST = 32;

    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Mixin
    StretchOptions stretch;

    @Parameters(index = "0", paramLabel = "NAMESPACE", description = "Namespace of the block.")
    String namespace;

    @Parameters(index = "1", paramLabel = "KEY", description = "Key of the block, 8 to 32 bytes in hexadecimal digits.")
    String key;

    @Option(names = "--why-left", description = "Show only how it left its tiers.")
    boolean whyLeft;

    @Option(names = "--tree", description = "Show the prompts that contain it: the prefix before it, and how they go on after it.")
    boolean tree;

    @Override
    public Integer call() throws Exception {
        if (whyLeft && tree) {
            throw new CliError("--why-left and --tree are two questions", "leave one of them out", CliError.BAD_INPUT);
        }
        HistoryOutput.Part part = tree ? HistoryOutput.Part.PREFIX : whyLeft ? HistoryOutput.Part.DEPARTURES : HistoryOutput.Part.ALL;
        Subject block = new Subject.Block(namespace, bytes());
        return new HistoryOutput(spec, cluster, audit).print(block, stretch, "block " + key + " of " + namespace, part);
    }

    private byte[] bytes() {
        byte[] bytes;
        try {
            bytes = HexFormat.of().parseHex(key.toLowerCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            bytes = new byte[0];
        }
        if (bytes.length < SHORTEST || bytes.length > LONGEST) {
            String wrong = "KEY must be 8 to 32 bytes in hexadecimal digits, not " + key;
            throw new CliError(wrong, "write for example 00000000000000ff", CliError.BAD_INPUT);
        }
        return bytes;
    }
}
