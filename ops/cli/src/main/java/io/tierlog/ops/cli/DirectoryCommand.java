/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.DirectoryOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog directory}: one instance of the directory, in the foreground. Its flags are the {@link DirectoryOptions}. */
@Command(
        name = "directory",
        description = "Run a directory instance on an existing log: it answers where blocks are.",
        modelTransformer = OptionFlags.class,
        footer = {
            "",
            "It runs until Ctrl-C. Instances with the same --application-id share the",
            "partitions, and each answers for all of them. A controller starts one",
            "beside itself, unless it has --no-directory."
        })
final class DirectoryCommand implements Callable<Integer>, OptionFlags.Configured {
    private static final Duration RUNNING = Duration.ofSeconds(90);

    @Spec
    CommandSpec spec;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Options options() {
        return DirectoryOptions.options();
    }

    @Override
    public Integer call() throws Exception {
        OptionValues values = ClusterOptions.checked(() -> OptionFlags.values(spec, options()));
        OptionFlags.log("directory", values.effective());
        try (DirectoryInstance directory = ClusterOptions.checked(() -> DirectoryInstance.alone(values))) {
            DirectoryApp app = directory.start();
            if (!app.awaitRunning(RUNNING)) {
                throw new CliError("the directory is " + app.streams().state() + " after " + RUNNING.toSeconds() + " s", "run again with --verbose",
                        CliError.FAILURE);
            }
            printReady(directory, app);
            throw Foreground.untilSignalled(directory, app.ended().thenApply(
                    ended -> ended.orElseGet(() -> new IllegalStateException("the directory has ended"))));
        }
    }

    private void printReady(DirectoryInstance directory, DirectoryApp app) throws JsonProcessingException {
        String text = "Directory is up at " + directory.httpUrl() + ", gRPC on port " + app.grpcPort()
                + (app.statusPort() < 0 ? "" : ", metrics on port " + app.statusPort());
        ReadyLine.print(spec.commandLine().getOut(), format, text, directory::ready);
    }
}
