/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.agent.bridge.publish.PublishApp;
import io.tierlog.agent.bridge.publish.PublishConfig;
import io.tierlog.agent.bridge.publish.PublishOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.command.OptionFlags;
import io.tierlog.ops.cli.command.ReadyLine;
import io.tierlog.ops.cli.command.ServiceCommand;
import java.util.concurrent.CompletionStage;
import picocli.CommandLine.Command;

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
final class BridgePublishCommand extends ServiceCommand<PublishApp> {
    @Override
    public Options options() {
        return PublishOptions.options();
    }

    @Override
    protected PublishApp start(OptionValues values) {
        return PublishApp.start(PublishConfig.of(values));
    }

    @Override
    protected Reachable reachable(PublishApp app) {
        String text = "Publisher is up: events at " + String.join(" ", app.events()) + ", replays at " + String.join(" ", app.replays())
                + (app.httpPort() < 0 ? "" : ", over HTTP on port " + app.httpPort())
                + (app.statusPort() < 0 ? "" : ", metrics on port " + app.statusPort());
        return new Reachable(text, line -> {
            line.put("events", app.events());
            line.put("replays", app.replays());
            ReadyLine.port(line, "httpPort", app.httpPort());
            ReadyLine.port(line, "statusPort", app.statusPort());
        });
    }

    @Override
    protected CompletionStage<Throwable> ended(PublishApp app) {
        return app.ended();
    }
}
