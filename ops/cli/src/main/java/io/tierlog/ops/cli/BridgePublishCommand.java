/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.tierlog.agent.bridge.publish.PublishApp;
import io.tierlog.agent.bridge.publish.PublishConfig;
import io.tierlog.agent.bridge.publish.PublishOptions;
import io.tierlog.controller.http.ServerException;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog bridge publish}: placements as an engine's events, in the foreground. Its flags are the {@link PublishOptions}. */
@Command(
        name = "publish",
        description = "Publish Tierlog's placements as the KV events of an engine, for routers that read those.",
        modelTransformer = OptionFlags.class,
        footer = {
            "",
            "It runs until Ctrl-C. Each partition of the log is a stream with its own ports.",
            "A message is: kv@NODE@NAMESPACE, a number of 8 bytes, a batch in MessagePack.",
            "Numbers count the batches of the log: they go on when a publisher starts again,",
            "and a replay reaches back to the start of the log. See docs/bridge-publish.md."
        })
final class BridgePublishCommand implements Callable<Integer>, OptionFlags.Configured {
    @Spec
    CommandSpec spec;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Options options() {
        return PublishOptions.options();
    }

    @Override
    public Integer call() throws Exception {
        OptionValues values = ClusterOptions.checked(() -> OptionFlags.values(spec, options()));
        PublishConfig config = ClusterOptions.checked(() -> PublishConfig.of(values));
        OptionFlags.log("publisher", values.effective());
        try (PublishApp app = start(config)) {
            printReady(app);
            throw Foreground.untilSignalled(app, app.ended());
        }
    }

    private static PublishApp start(PublishConfig config) {
        try {
            return ClusterOptions.checked(() -> PublishApp.start(config));
        } catch (ServerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    private void printReady(PublishApp app) throws JsonProcessingException {
        String text = "Publisher is up: events at " + String.join(" ", app.events()) + ", replays at " + String.join(" ", app.replays())
                + (app.httpPort() < 0 ? "" : ", over HTTP on port " + app.httpPort())
                + (app.statusPort() < 0 ? "" : ", metrics on port " + app.statusPort());
        ReadyLine.print(spec.commandLine().getOut(), format, text, line -> {
            line.put("events", app.events());
            line.put("replays", app.replays());
            ReadyLine.port(line, "httpPort", app.httpPort());
            ReadyLine.port(line, "statusPort", app.statusPort());
        });
    }
}
