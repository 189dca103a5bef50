/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.tierlog.controller.http.ServerException;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.dashboard.DashboardApp;
import io.tierlog.ops.dashboard.DashboardConfig;
import io.tierlog.ops.dashboard.DashboardOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog dashboard}: the live page of a log, in the foreground. Its flags are the {@link DashboardOptions}. */
@Command(
        name = "dashboard",
        description = "Serve the live page of a log to browsers: hit ratios, nodes, requests, as they are now and over the last day.",
        modelTransformer = OptionFlags.class,
        footer = {
            "",
            "It runs until Ctrl-C, reads the log alone and writes only a changelog of its own.",
            "The first start reads the log from its beginning. See docs/dashboard.md."
        })
final class DashboardCommand implements Callable<Integer>, OptionFlags.Configured {
    @Spec
    CommandSpec spec;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Options options() {
        return DashboardOptions.options();
    }

    @Override
    public Integer call() throws Exception {
        OptionValues values = ClusterOptions.checked(() -> OptionFlags.values(spec, options()));
        DashboardConfig config = ClusterOptions.checked(() -> DashboardOptions.config(values));
        OptionFlags.log("dashboard", values.effective());
        try (DashboardApp app = start(config)) {
            printReady(app);
            throw Foreground.untilSignalled(app, app.ended());
        }
    }

    private static DashboardApp start(DashboardConfig config) {
        try {
            return ClusterOptions.checked(() -> DashboardApp.start(config));
        } catch (ServerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    private void printReady(DashboardApp app) throws JsonProcessingException {
        ReadyLine.print(spec.commandLine().getOut(), format, "Live page at " + app.url(), line -> line.put("url", app.url()));
    }
}
