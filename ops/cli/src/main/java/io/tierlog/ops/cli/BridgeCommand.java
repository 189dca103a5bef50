/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.tierlog.agent.bridge.BridgeApp;
import io.tierlog.agent.bridge.BridgeConfig;
import io.tierlog.agent.bridge.BridgeOptions;
import io.tierlog.controller.http.ServerException;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
            "Each engine instance is a node named ext-INSTANCE-dpRANK, and its blocks are in",
            "the namespace of its model. The key of a block is its hash: 8 bytes of a number,",
            "big-endian, or the bytes as the engine sends them. See docs/bridge.md."
        })
final class BridgeCommand implements Callable<Integer>, OptionFlags.Configured {
    @Spec
    CommandSpec spec;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Options options() {
        return BridgeOptions.options();
    }

    @Override
    public Integer call() throws Exception {
        OptionValues values = ClusterOptions.checked(() -> OptionFlags.values(spec, options()));
        BridgeConfig config = ClusterOptions.checked(() -> BridgeConfig.of(values));
        OptionFlags.log("bridge", values.effective());
        try (BridgeApp app = start(config)) {
            printReady(app, config);
            throw Foreground.untilSignalled(app, app.ended());
        }
    }

    private static BridgeApp start(BridgeConfig config) {
        try {
            return ClusterOptions.checked(() -> BridgeApp.start(config));
        } catch (ServerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    private void printReady(BridgeApp app, BridgeConfig config) throws JsonProcessingException {
        String text = "Bridge is up and listens to " + config.sources().size() + (config.sources().size() == 1 ? " source" : " sources")
                + config.file().map(file -> " and to those in " + file).orElse("")
                + (app.statusPort() < 0 ? "" : ", metrics on port " + app.statusPort());
        ReadyLine.print(spec.commandLine().getOut(), format, text, line -> {
            line.put("sources", config.sources().size());
            ReadyLine.port(line, "statusPort", app.statusPort());
        });
    }
}
