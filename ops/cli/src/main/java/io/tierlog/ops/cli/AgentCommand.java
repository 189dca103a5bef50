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
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.OptionFlags;
import io.tierlog.ops.cli.command.ReadyLine;
import io.tierlog.ops.cli.command.ServiceCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import picocli.CommandLine.Command;

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
final class AgentCommand extends ServiceCommand<AgentCommand.Running> {
    @Override
    public Options options() {
        return AgentOptions.options();
    }

    /** A running agent, and where engines connect to it. */
    record Running(AgentApp app, EngineAddress engine) implements AutoCloseable {
        @Override
        public void close() {
            app.close();
        }

        private String where() {
            List<String> all = new ArrayList<>();
            engine.port().ifPresent(_ -> all.add("127.0.0.1:" + app.enginePort()));
            engine.socket().ifPresent(socket -> all.add("unix:" + socket.toAbsolutePath()));
            return String.join(" or ", all);
        }
    }

    private static AgentConfig config(OptionValues values) {
        return new AgentConfig(values, AgentConfig.Tuning.DEFAULTS);
    }

    @Override
    protected Map<String, String> effective(OptionValues values) {
        return config(values).effective();
    }

    @Override
    protected Running start(OptionValues values) {
        AgentConfig config = config(values);
        try {
            return new Running(AgentApp.start(config), config.engine());
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

    @Override
    protected Reachable reachable(Running agent) {
        AgentApp app = agent.app();
        return new Reachable("Agent of node " + app.node() + " is up, engines connect to " + agent.where(), line -> {
            line.put("node", app.node());
            agent.engine().port().ifPresent(_ -> line.put("port", app.enginePort()));
            ReadyLine.port(line, "statusPort", app.statusPort());
            agent.engine().socket().ifPresent(socket -> line.put("socket", socket.toString()));
        });
    }

    @Override
    protected void afterReady(Running agent) {
        agent.app().registered().thenAccept(incarnation -> note("Registered as incarnation " + incarnation + "."));
    }

    @Override
    protected CompletionStage<Throwable> ended(Running agent) {
        return agent.app().ended().thenApply(AgentCommand::error);
    }

    private static Throwable error(AgentEnd end) {
        return switch (end.kind()) {
            case REFUSED -> new CliError(end.detail(), "nothing was changed; look at --node and --layouts", CliError.BAD_INPUT);
            case FENCED -> new CliError(end.detail(), "another process is registered for the node: stop one of them", CliError.BAD_INPUT);
            case STOPPED, FAILED -> new CliError(end.detail(), "look at the log with --verbose", CliError.FAILURE);
        };
    }
}
