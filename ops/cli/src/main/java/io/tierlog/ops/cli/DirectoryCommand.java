/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.DirectoryOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.command.OptionFlags;
import io.tierlog.ops.cli.command.ServiceCommand;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import picocli.CommandLine.Command;

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
final class DirectoryCommand extends ServiceCommand<DirectoryInstance> {
    @Override
    public Options options() {
        return DirectoryOptions.options();
    }

    @Override
    protected DirectoryInstance start(OptionValues values) {
        return DirectoryInstance.alone(values).start();
    }

    @Override
    protected boolean awaitUp(DirectoryInstance directory, Duration patience) throws InterruptedException {
        return directory.app().awaitRunning(patience);
    }

    @Override
    protected Reachable reachable(DirectoryInstance directory) {
        DirectoryApp app = directory.app();
        String text = "Directory is up at " + directory.httpUrl() + ", gRPC on port " + app.grpcPort()
                + (app.statusPort() < 0 ? "" : ", metrics on port " + app.statusPort());
        return new Reachable(text, directory::ready);
    }

    @Override
    protected CompletionStage<Throwable> ended(DirectoryInstance directory) {
        return directory.app().ended().thenApply(ended -> ended.orElseGet(() -> new IllegalStateException("the directory has ended")));
    }
}
