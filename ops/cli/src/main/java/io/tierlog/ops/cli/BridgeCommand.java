/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.agent.bridge.BridgeApp;
import io.tierlog.agent.bridge.BridgeConfig;
import io.tierlog.agent.bridge.BridgeOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.command.OptionFlags;
import io.tierlog.ops.cli.command.ReadyLine;
import io.tierlog.ops.cli.command.ServiceCommand;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;

/** {@code tierlog bridge}: listens to engines' events, in the foreground. Its flags are the {@link BridgeOptions}. */
@Command(
        name = "bridge",
        description = "Listen to the KV events of engines and append what they hold to the log, for directories to answer.",
        modelTransformer = OptionFlags.class,
        subcommands = BridgePublishCommand.class,
        footer = {
            "",
            "It runs until Ctrl-C. One source in quotes, with its keys:",
            "  --source \"tcp://10.0.0.7:5557 replay=tcp://10.0.0.7:5558 model=llama ranks=2\"",
            "LMCache's events come from its Kafka topic, or it posts them:",
            "  --lmcache-topic lmcache-cache-events --lmcache-bootstrap-servers 10.0.0.9:9092",
            "  --lmcache-listen 127.0.0.1:9300",
            "Each engine instance is a node named ext-INSTANCE-dpRANK, and its blocks are in",
            "the namespace of its model. The key of a block is its hash: 8 bytes of a number,",
            "big-endian, or the bytes as the engine sends them. See docs/bridge.md."
        })
final class BridgeCommand extends ServiceCommand<BridgeCommand.Running> {
    @Override
    public Options options() {
        return BridgeOptions.options();
    }

    /** A running bridge, and its sources. */
    record Running(BridgeApp app, BridgeConfig config) implements AutoCloseable {
        @Override
        public void close() {
            app.close();
        }
    }

    @Override
    protected Running start(OptionValues values) {
        BridgeConfig config = BridgeConfig.of(values);
        return new Running(BridgeApp.start(config), config);
    }

    @Override
    protected Reachable reachable(Running bridge) {
        int sources = bridge.config().sources().size();
        int statusPort = bridge.app().statusPort();
        int cachePort = bridge.app().cachePort();
        String text = "Bridge is up and listens to " + sources + (sources == 1 ? " source" : " sources")
                + bridge.config().file().map(file -> " and to those in " + file).orElse("")
                + bridge.config().lmcache().topics().stream().map(topic -> ", LMCache's topic " + topic).collect(Collectors.joining())
                + (cachePort < 0 ? "" : ", LMCache's events on port " + cachePort)
                + (statusPort < 0 ? "" : ", metrics on port " + statusPort);
        return new Reachable(text, line -> {
            line.put("sources", sources);
            ReadyLine.port(line, "cachePort", cachePort);
            ReadyLine.port(line, "statusPort", statusPort);
        });
    }

    @Override
    protected CompletionStage<Throwable> ended(Running bridge) {
        return bridge.app().ended();
    }
}
