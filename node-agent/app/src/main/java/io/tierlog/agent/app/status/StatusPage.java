/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.status;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.agent.app.engine.EngineServer;
import io.tierlog.agent.app.log.CommandSource;
import io.tierlog.agent.app.log.EventBuffer;
import io.tierlog.agent.app.log.KafkaEventSink;
import io.tierlog.agent.app.loop.AgentLoop;
import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.peer.DirectoryPeers;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.agent.core.port.PeerPorts;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.agent.disk.BlockFile;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.HealthLog;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.HealthParts.State;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.tls.Tls;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * {@code /metrics} and {@code /health} of one agent. The agent is as well as the worst of its parts; the answer is 503 when one has failed. Safe for
 * use by several threads.
 *
 * <p>Trade-off: an agent without this page measures no transfers and no calls, so that it pays nothing for them.
 */
public final class StatusPage implements AutoCloseable {
    /** A broker that does not acknowledge for this long is reported. */
    private static final long SILENT_LOG_MS = 10_000;
    /** The loop works off a batch in milliseconds; the reader of the commands polls every second. */
    private static final long STUCK_MS = 10_000;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final HealthParts parts = new HealthParts(registry);
    private final Endpoint endpoint;
    private final Tls tls;
    private final Transfers transfers;
    private final EngineCallTimes calls = new EngineCallTimes(registry);
    private final long blockBytes;
    private volatile Optional<StatusServer> server = Optional.empty();
    private volatile Optional<HealthLog> stuck = Optional.empty();

    /**
     * What the page shows; each part must answer without waiting.
     *
     * @param node name of the node
     * @param status how the core was after its last batch
     * @param commands the reader of the commands, which is another one after the agent has registered again
     * @param events what sends events now, which is another one after the log was lost
     * @param buffer the bounds of the events that the log has not acknowledged
     * @param finder how the agent asks which other nodes have blocks; empty when it does not
     * @param disk the disk tier; empty when the node has none
     * @param signing the check of record codes; empty without
     */
    public record Sources(
            String node, Supplier<AgentStatus> status, AgentLoop loop, Supplier<KafkaEventSink> events, EventBuffer buffer,
            Supplier<CommandSource> commands, EngineServer engines, DeviceStreams device, Optional<DirectoryPeers> finder,
            Optional<BlockFile> disk, Optional<RecordSigning> signing) {}

    /**
     * A page that does not answer yet.
     *
     * @param tls of the process
     * @param blockBytes size of a block
     */
    public StatusPage(Endpoint endpoint, Tls tls, long blockBytes) {
        this.endpoint = endpoint;
        this.tls = tls;
        this.blockBytes = blockBytes;
        this.transfers = new Transfers(registry, blockBytes);
    }

    /** Measures the transfers that begin. */
    public Ports measured(Ports ports) {
        return new Ports(transfers.measured(ports.device()), transfers.measured(ports.store()), transfers.measured(ports.disk()), ports.engines(),
                ports.events(),
                ports.peers().map(peers -> new PeerPorts(peers.finder(), transfers.measured(peers.transfers()), peers.replies())), ports.watch());
    }

    /** Measures the transfers that end, on their way to {@code loop}. */
    public Consumer<AgentInput> ends(Consumer<AgentInput> loop) {
        return transfers.ends(loop);
    }

    /** Measures the calls of engines. */
    public EngineCallTimes calls() {
        return calls;
    }

    /**
     * Answers from now on.
     *
     * @throws io.tierlog.controller.http.ServerException.CannotListen when the address is taken
     */
    public void serve(Sources sources) {
        register(sources);
        parts.add("registration", () -> registration(sources.status().get()));
        parts.add("loop", () -> stuck(sources.loop().busyMs(), "a batch of inputs has been in work for %d s: take a thread dump"));
        parts.add("commands", () -> stuck(sources.commands().get().silentMs(), "commands have not been read for %d s"));
        parts.add("records", () -> sources.commands().get().putAside().state());
        parts.add("events", () -> events(sources.events().get()));
        parts.add("device", () -> sources.device().lost()
                ? State.failed("the device is lost, copies fail: start the agent again when it is back") : State.WELL);
        parts.add("store", transfers::store);
        sources.disk().ifPresent(_ -> parts.add("disk", () -> disk(sources.status().get())));
        stuck = Optional.of(new HealthLog("agent-" + sources.node() + "-health", parts, Set.of("loop", "commands", "events")));
        server = Optional.of(new StatusServer("--agent-status-listen", endpoint, tls, registry, () -> report(sources)));
    }

    /** The port it listens on; -1 before it does. */
    public int port() {
        return server.map(StatusServer::port).orElse(-1);
    }

    @Override
    public void close() {
        stuck.ifPresent(HealthLog::close);
        server.ifPresent(StatusServer::close);
    }

    private void register(Sources sources) {
        AgentMetrics metrics = new AgentMetrics(registry, sources.status(), blockBytes);
        AgentLoop loop = sources.loop();
        metrics.gauges("tierlog_agent_inbox_inputs", "Inputs that wait for the core, by sender: calls of engines, records of the log, completions",
                "sender", Map.of("engine", loop::waitingCalls, "log", loop::waitingRecords, "port", loop::waitingCompletions));
        metrics.gauge("tierlog_agent_engine_sessions", "Sessions that engines have open", () -> sources.engines().openSessions());
        metrics.gauge("tierlog_agent_engine_calls_waiting", "Calls of engines that wait for an answer", () -> sources.engines().waitingCalls());
        Supplier<KafkaEventSink> events = sources.events();
        metrics.counter("tierlog_agent_events_total", "Events that were given to the producer, since it last began as a new sender",
                () -> events.get().appended());
        metrics.gauge("tierlog_agent_unsent_events", "Events that the log has not acknowledged yet", () -> events.get().unacknowledged());
        metrics.gauge("tierlog_agent_unsent_events_bytes", "Bytes of the events that the log has not acknowledged",
                () -> events.get().unacknowledgedBytes());
        metrics.gauge("tierlog_agent_unsent_events_limit", "Unacknowledged events from which on new work is refused",
                () -> sources.buffer().records());
        metrics.gauge("tierlog_agent_unsent_events_seconds", "Time since the log acknowledged an event, while some wait",
                () -> events.get().silentMs() / 1_000.0);
        metrics.counter("tierlog_agent_commands_unreadable_total", "Records for this node that could not be read, since it registered",
                () -> sources.commands().get().unreadable());
        metrics.counter("tierlog_agent_commands_forged_total", "Commands that were refused because of their code, since it registered",
                () -> sources.commands().get().forged());
        metrics.counter("tierlog_agent_commands_unsigned_total", "Records without a code that --record-check WARN has taken",
                () -> sources.signing().map(RecordSigning::unsigned).orElse(0L).doubleValue());
        metrics.gauge("tierlog_agent_device_lost", "1 when the device has failed for good", () -> sources.device().lost() ? 1 : 0);
        sources.disk().ifPresent(file -> metrics.disk(file::status));
        sources.finder().ifPresent(finder -> {
            metrics.counter("tierlog_agent_directory_lookups_answered_total", "Questions that the directory answered",
                    () -> finder.lookups().answered());
            metrics.counter("tierlog_agent_directory_lookups_failed_total", "Questions that the directory did not answer",
                    () -> finder.lookups().failed());
            metrics.counter("tierlog_agent_directory_lookups_refused_total", "Questions that were not sent, because too many were under way",
                    () -> finder.lookups().refused());
        });
    }

    private StatusServer.Report report(Sources sources) {
        AgentStatus now = sources.status().get();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("state", now.phase().name()).put("node", sources.node()).put("incarnation", now.incarnation());
        HealthParts.Level worst = parts.describe(body);
        return new StatusServer.Report(worst != HealthParts.Level.FAILED, body);
    }

    private static State registration(AgentStatus now) {
        return switch (now.phase()) {
            case ON_LOG -> State.WELL;
            case UNREGISTERED -> State.degraded("the controller has not accepted this process yet: engines are answered with what is on the host");
            case REJOINING -> State.degraded("the controller has declared this process lost; it registers again when its transfers have ended");
            case STOPPING, STOPPED -> State.failed("the agent stops");
            case FENCED -> State.failed("another process speaks for the node: run one agent for each node name");
        };
    }

    private static State events(KafkaEventSink events) {
        if (events.congested()) {
            return State.failed(events.unacknowledged() + " events wait for the brokers, which is the most: new work is refused");
        }
        long silentMs = events.silentMs();
        return silentMs < SILENT_LOG_MS ? State.WELL : State.degraded(
                "the brokers have not acknowledged an event for " + silentMs / 1_000 + " s, " + events.unacknowledged() + " wait");
    }

    private State disk(AgentStatus now) {
        return now.onTheLog() && !now.diskOpen()
                ? State.degraded("what the disk held at the start is not on the log yet: its blocks do not serve") : transfers.disk();
    }

    private static State stuck(long ms, String sentence) {
        return ms < STUCK_MS ? State.WELL : State.failed(String.format(Locale.ROOT, sentence, ms / 1_000));
    }
}
