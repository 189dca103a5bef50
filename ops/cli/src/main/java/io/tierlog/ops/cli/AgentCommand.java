/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.AgentEnd;
import io.tierlog.agent.app.AgentOptions;
import io.tierlog.agent.app.DeviceUnavailableException;
import io.tierlog.agent.app.DiskUnavailableException;
import io.tierlog.agent.app.engine.EngineAddress;
import io.tierlog.agent.app.engine.EngineServerException;
import io.tierlog.agent.app.memory.HostMemoryException;
import io.tierlog.controller.http.ServerException;
import io.tierlog.events.config.Options;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog agent}: the agent of one node, in the foreground. Its flags are the {@link AgentOptions}. */
@Command(
        name = "agent",
        description = "Run the agent of one node.",
        modelTransformer = OptionFlags.class,
        footer = {
            "",
            "It runs until Ctrl-C. Engines on the same machine connect to its engine API (gRPC). One process runs for a node: a second one with the",
            "same name is refused while the first is alive, and retries for --registration-timeout seconds."
        })
final class AgentCommand implements Callable<Integer>, OptionFlags.Configured {
    @Spec
    CommandSpec spec;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Options options() {
        return AgentOptions.options();
    }

    @Override
    public Integer call() throws Exception {
        AgentConfig config = ClusterOptions.checked(() -> new AgentConfig(OptionFlags.values(spec, options()), AgentConfig.Tuning.DEFAULTS));
        OptionFlags.log("agent", config.effective());
        try (AgentApp app = start(config)) {
            PrintWriter out = spec.commandLine().getOut();
            printReady(app, config.engine());
            app.registered().thenAccept(incarnation -> {
                if (format == OutputFormat.text) {
                    out.println("Registered as incarnation " + incarnation + ".");
                    out.flush();
                }
            });
            throw Foreground.untilSignalled(app, app.ended().thenApply(AgentCommand::error));
        }
    }

    private static AgentApp start(AgentConfig config) {
        try {
            return ClusterOptions.checked(() -> AgentApp.start(config));
        } catch (EngineServerException e) {
            String hint = "choose another --port, or 0 for any free one, or another --engine-socket";
            throw new CliError(String.valueOf(e.getMessage()), hint, CliError.BAD_INPUT, e);
        } catch (ServerException e) {
            throw new CliError(String.valueOf(e.getMessage()), "choose another address with --agent-status-listen", CliError.BAD_INPUT, e);
        } catch (DeviceUnavailableException e) {
            throw new CliError(String.valueOf(e.getMessage()), "give another one with --device; emulated needs no GPU", CliError.BAD_INPUT, e);
        } catch (DiskUnavailableException e) {
            throw new CliError(String.valueOf(e.getMessage()), "give another directory with --disk", CliError.BAD_INPUT, e);
        } catch (HostMemoryException e) {
            throw new CliError(String.valueOf(e.getMessage()), "give less with --host", CliError.BAD_INPUT, e);
        }
    }

    private static Throwable error(AgentEnd end) {
        return switch (end.kind()) {
            case REFUSED -> new CliError(end.detail(), "nothing was changed; look at --node and --layouts", CliError.BAD_INPUT);
            case FENCED -> new CliError(end.detail(), "another process is registered for the node: stop one of them", CliError.BAD_INPUT);
            case STOPPED, FAILED -> new CliError(end.detail(), "look at the log with --verbose", CliError.FAILURE);
        };
    }

    private void printReady(AgentApp app, EngineAddress engine) throws Exception {
        String text = "Agent of node " + app.node() + " is up, engines connect to " + where(app, engine);
        ReadyLine.print(spec.commandLine().getOut(), format, text, line -> {
            line.put("node", app.node());
            engine.port().ifPresent(_ -> line.put("port", app.enginePort()));
            ReadyLine.port(line, "statusPort", app.statusPort());
            engine.socket().ifPresent(socket -> line.put("socket", socket.toString()));
        });
    }

    private static String where(AgentApp app, EngineAddress engine) {
        List<String> all = new ArrayList<>();
        engine.port().ifPresent(_ -> all.add("127.0.0.1:" + app.enginePort()));
        engine.socket().ifPresent(socket -> all.add("unix:" + socket.toAbsolutePath()));
        return String.join(" or ", all);
    }
}
