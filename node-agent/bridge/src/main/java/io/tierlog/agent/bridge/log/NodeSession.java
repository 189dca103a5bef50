/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.log;

import io.tierlog.agent.bridge.view.BlockBook.Change;
import io.tierlog.agent.bridge.view.View;
import io.tierlog.events.Codec;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.HeartbeatGap;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Sha256;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.AgentRefused;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.EngineBlocksStored;
import io.tierlog.schemas.event.EngineViewChanged;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One engine instance as a foreign node of the log. It registers, and once the controller has accepted it, reports all that the instance has,
 * then what changes. Changes before that, and while the controller counts the node as lost, are not kept: what the instance has is reported
 * again. Confined to the bridge's thread.
 *
 * <pre>
 *   OUT --(first batch)--> ASKED --(accepted)--> IN --(ended by the controller)--> ASKED
 *    ^----------------------- stop ----------------'
 * </pre>
 */
public final class NodeSession {
    private static final Logger LOG = LoggerFactory.getLogger(NodeSession.class);
    private static final int BLOCKS_IN_EVENT = 500;
    private static final long HEARTBEAT_MS = 1_000;
    private static final long ASK_AGAIN_MS = 1_000;
    private static final long ASK_AGAIN_LATER_MS = 30_000;
    private static final long REMIND_MS = 10_000;
    private static final int REASON_CHARACTERS = 200;

    private final EventWriter writer;
    private final String node;
    private final String processId;
    private final Map<String, String> configuration;
    private Content content;
    private final Map<Kind, Pending> pending = new LinkedHashMap<>();
    private State state = State.OUT;
    private boolean free;
    private RecordStamp stamp = RecordStamp.NONE;
    private long incarnation;
    private long views;
    private long nextMs;
    private long heartbeatMs = HEARTBEAT_MS;
    private long askAtMs = Long.MAX_VALUE;

    private enum State {
        OUT,
        ASKED,
        IN
    }

    /** What the instance has now. */
    public interface Content {
        /** How whole it is known. */
        View view();

        /** All its blocks. */
        void blocks(Consumer<Change> visit);
    }

    private record Kind(Tier tier, String namespace) {}

    /** Blocks that go into one event. */
    private static final class Pending {
        private boolean stored;
        private final List<PagedBlock> blocks = new ArrayList<>();
    }

    /**
     * A node that is not registered yet.
     *
     * @param node its name
     * @param configuration what it is registered with, for people
     */
    public NodeSession(EventWriter writer, String node, String processId, Map<String, String> configuration, Content content) {
        this.writer = writer;
        this.node = node;
        this.processId = processId;
        this.configuration = new TreeMap<>(configuration);
        this.content = content;
    }

    public String node() {
        return node;
    }

    /** Another publisher speaks for the instance from here on; the session must be free. */
    void attach(Content other) {
        content = other;
        free = false;
    }

    /** Whether no publisher speaks for it any more. One that was not started yet is its publisher's too. */
    boolean isFree() {
        return free;
    }

    /** Its name in the log. */
    public String aggregate() {
        return "node/" + node;
    }

    /** Whether it has asked the controller to accept it. */
    public boolean hasBegun() {
        return state != State.OUT;
    }

    /** Whether the controller has accepted it. */
    public boolean isRegistered() {
        return state == State.IN;
    }

    /** A block came or went. */
    public void changed(Change change) {
        if (state != State.IN) {
            return;
        }
        Pending waiting = pending.computeIfAbsent(new Kind(change.tier(), change.namespace()), _ -> new Pending());
        if (!waiting.blocks.isEmpty() && (waiting.stored != change.stored() || waiting.blocks.size() >= BLOCKS_IN_EVENT)) {
            send(new Kind(change.tier(), change.namespace()), waiting);
        }
        waiting.stored = change.stored();
        waiting.blocks.add(change.block());
    }

    /** How whole the instance is known has changed. */
    public void viewed(View view) {
        if (state == State.IN) {
            flush();
            views++;
            String reason = view.reason().length() > REASON_CHARACTERS ? view.reason().substring(0, REASON_CHARACTERS) : view.reason();
            append(e -> new EngineViewChanged(e, views, view.unknown(), reason, view.lostFrom(), view.lostTo()));
        }
    }

    /** Sends what waits for more of its kind. */
    public void flush() {
        pending.forEach((kind, waiting) -> {
            if (!waiting.blocks.isEmpty()) {
                send(kind, waiting);
            }
        });
        pending.clear();
    }

    private void send(Kind kind, Pending waiting) {
        List<PagedBlock> blocks = List.copyOf(waiting.blocks);
        waiting.blocks.clear();
        if (waiting.stored) {
            append(e -> new EngineBlocksStored(e, kind.tier(), kind.namespace(), blocks));
        } else {
            append(e -> new BlocksEvicted(e, kind.tier(), kind.namespace(), RemovalReason.ENGINE_EVICTED, blocks));
        }
    }

    /** Begins, unless it has begun. */
    public void start(long nowMs) {
        if (state == State.OUT && !free) {
            ask(nowMs);
        }
    }

    private void ask(long nowMs) {
        state = State.ASKED;
        incarnation = 0;
        pending.clear();
        askAtMs = Long.MAX_VALUE;
        nextMs = nowMs + REMIND_MS;
        StringBuilder lines = new StringBuilder();
        configuration.forEach((key, value) -> lines.append(key).append('=').append(value).append('\n'));
        Bytes digest = Bytes.wrapUnshared(Sha256.of(lines.toString()));
        Bytes noLayouts = Bytes.wrapUnshared(Sha256.of(""));
        append(e -> new AgentRegistering(e, node, processId, version(), List.of(), List.of(), noLayouts, 1, 1, configuration, digest, null, null,
                true));
    }

    private static String version() {
        String version = NodeSession.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }

    /** A decision about the node. */
    public void decided(long nowMs, Fact fact) {
        switch (fact) {
            case AgentAccepted f when f.processId().equals(processId) && state == State.ASKED -> accepted(nowMs, f);
            case AgentRefused f when f.processId().equals(processId) && state == State.ASKED -> {
                boolean soon = f.reason() == RefusalReason.DUPLICATE_NODE;
                LOG.warn("node {} is not registered ({}); it asks again in {} s: {}", node, f.reason(),
                        (soon ? ASK_AGAIN_MS : ASK_AGAIN_LATER_MS) / 1_000, f.detail());
                askAtMs = nowMs + (soon ? ASK_AGAIN_MS : ASK_AGAIN_LATER_MS);
            }
            case NodeEnded f when state == State.IN && f.endedIncarnation() == incarnation -> {
                LOG.warn("the controller has ended incarnation {} of node {} ({}); it registers again", incarnation, node, f.reason());
                ask(nowMs);
            }
            case InputRefused f when state == State.IN && f.envelope().incarnation() == incarnation ->
                LOG.warn("node {}: the controller has refused a {} ({}): {}", node, f.input(), f.reason(), f.detail());
            default -> {}
        }
    }

    private void accepted(long nowMs, AgentAccepted f) {
        state = State.IN;
        incarnation = f.newIncarnation();
        views = 0;
        heartbeatMs = HeartbeatGap.ofMs(f.sessionMs(), HEARTBEAT_MS);
        nextMs = nowMs + heartbeatMs;
        View view = content.view();
        if (!view.unknown().isEmpty()) {
            viewed(view);
        }
        content.blocks(this::changed);
        flush();
        LOG.info("node {} is registered as incarnation {}", node, incarnation);
    }

    /** Time passes. */
    public void tick(long nowMs) {
        if (state == State.ASKED && nowMs >= askAtMs) {
            ask(nowMs);
        } else if (state == State.ASKED && nowMs >= nextMs && askAtMs == Long.MAX_VALUE) {
            nextMs = nowMs + REMIND_MS;
            LOG.warn("node {}: no controller has answered its registration yet; is one running on this log?", node);
        } else if (state == State.IN && nowMs >= nextMs) {
            nextMs = nowMs + heartbeatMs;
            append(e -> new AgentHeartbeat(e, List.of(), 0, 0, 0));
        }
    }

    /** The engine is gone, or the bridge ends. */
    public void stop() {
        free = true;
        if (state != State.OUT) {
            flush();
            append(e -> new AgentStopping(e, processId));
            state = State.OUT;
            incarnation = 0;
            pending.clear();
        }
    }

    private void append(Function<Envelope, Event> withEnvelope) {
        String sender = "agent/" + node + "/" + processId;
        Envelope blank = new Envelope(aggregate(), sender, incarnation, 0, 0, System.currentTimeMillis(), null, null, null);
        Event event = withEnvelope.apply(stamp.onto(blank));
        byte[] avro = Codec.avro(event);
        stamp = stamp.after(avro);
        writer.append(event, avro);
    }
}
