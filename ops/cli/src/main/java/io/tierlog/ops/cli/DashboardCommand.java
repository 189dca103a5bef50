/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.command.OptionFlags;
import io.tierlog.ops.cli.command.ServiceCommand;
import io.tierlog.ops.dashboard.DashboardApp;
import io.tierlog.ops.dashboard.DashboardOptions;
import java.util.concurrent.CompletionStage;
import picocli.CommandLine.Command;

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
final class DashboardCommand extends ServiceCommand<DashboardApp> {
    @Override
    public Options options() {
        return DashboardOptions.options();
    }

    @Override
    protected DashboardApp start(OptionValues values) {
        return DashboardApp.start(DashboardOptions.config(values));
    }

    @Override
    protected Reachable reachable(DashboardApp app) {
        return new Reachable("Live page at " + app.url(), line -> line.put("url", app.url()));
    }

    @Override
    protected CompletionStage<Throwable> ended(DashboardApp app) {
        return app.ended();
    }
}
