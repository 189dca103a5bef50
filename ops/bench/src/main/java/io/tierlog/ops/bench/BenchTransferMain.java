/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import io.tierlog.ops.bench.report.BenchException;
import picocli.CommandLine;

/** {@code bench transfer} by itself, for a machine that has neither Kafka nor the rest of Tierlog: ops/pack-gpu. */
public final class BenchTransferMain {
    private static final String LOG = "logback.configurationFile";

    private BenchTransferMain() {}

    /** Runs it and ends the process with its exit code. */
    public static void main(String[] arguments) {
        // Before the first logger: without a configuration Logback prints every byte that S3's client sends.
        if (System.getProperty(LOG) == null) {
            System.setProperty(LOG, "io/tierlog/ops/bench/bench-transfer-log.xml");
        }
        CommandLine line = new CommandLine(new BenchTransferCommand());
        line.setExecutionExceptionHandler((failure, where, _) -> {
            if (failure instanceof BenchException refused) {
                where.getErr().println("error: " + refused.getMessage());
                where.getErr().println("hint: " + refused.hint());
                return refused.isBadInput() ? 2 : 1;
            }
            throw failure;
        });
        System.exit(line.execute(arguments));
    }
}
