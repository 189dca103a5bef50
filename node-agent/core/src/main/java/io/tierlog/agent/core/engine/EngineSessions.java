/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.engine;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.BuffersRegistered;
import io.tierlog.agent.core.api.AgentInput.SessionClosed;
import io.tierlog.agent.core.api.AgentInput.SessionOpened;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineDetached;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of engines. Several may be open, but one alone may have a device pool, since a device page is named by its number alone.
 *
 * <p>For the core's one thread.
 */
public final class EngineSessions {
    /** What a caller without a session and a device pool has to do. */
    public static final String FIRST = "open a session and register buffers first";

    private record Engine(String instance, @Nullable BuffersRegistered pool) {}

    private final AgentContext context;
    private final Operations operations;
    private final SequencedMap<String, Engine> sessions = new LinkedHashMap<>();

    public EngineSessions(AgentContext context, Operations operations) {
        this.context = context;
        this.operations = operations;
    }

    public void refuse(long call, Refusal refusal, String detail, boolean retry) {
        context.counters().increment(AgentCounter.CALLS_REFUSED);
        context.ports().engines().refused(call, refusal, detail, retry);
    }

    public void unknownLease(long call, String lease) {
        String detail = "no lease " + lease + " of this session: it was loaded, released or has ended, or was never given";
        refuse(call, Refusal.UNKNOWN_LEASE, detail, false);
    }

    public void open(SessionOpened in) {
        if (!context.takesWork()) {
            refuse(in.call(), Refusal.CLOSING, "The agent stops", false);
        } else if (EngineCallChecks.badText(in.instance())) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "instance must have a name", false);
        } else if (sessions.containsKey(in.session())) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "session " + in.session() + " is open", false);
        } else if (sessions.values().stream().anyMatch(engine -> engine.instance().equals(in.instance()))) {
            refuse(in.call(), Refusal.INSTANCE_TAKEN, "instance " + in.instance() + " has a session", true);
        } else if (sessions.size() >= AgentLimits.MAX_ENGINE_SESSIONS) {
            refuse(in.call(), Refusal.BUSY, "there are " + sessions.size() + " sessions", true);
        } else {
            sessions.put(in.session(), new Engine(in.instance(), null));
            context.ports().engines().done(in.call());
        }
    }

    public void register(BuffersRegistered in) {
        Engine engine = sessions.get(in.session());
        if (engine == null) {
            refuse(in.call(), Refusal.UNKNOWN_SESSION, "open a session first", false);
        } else if (!context.takesWork()) {
            refuse(in.call(), Refusal.CLOSING, "The agent stops", false);
        } else if (in.blockBytes() != context.registration().blockBytes()
                || !in.layoutDigest().equals(context.registration().layoutDigest())) {
            refuse(in.call(), Refusal.LAYOUT_MISMATCH, mismatch(in), false);
        } else if (in.pages() < 1 || in.pages() > AgentLimits.MAX_DEVICE_PAGES) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "pages must be 1 to " + AgentLimits.MAX_DEVICE_PAGES, false);
        } else if (engine.pool() != null) {
            repeat(in, engine.pool());
        } else if (context.device().capacity() > 0) {
            refuse(in.call(), Refusal.INSTANCE_TAKEN, "another instance has its device pool here: one agent serves one", true);
        } else if (operations.deviceBusy()) {
            refuse(in.call(), Refusal.BUSY, "copies of an earlier session are still under way", true);
        } else {
            Engine attached = new Engine(engine.instance(), in);
            sessions.put(in.session(), attached);
            context.device().open(in.pages());
            reportAttached(attached);
            context.ports().engines().done(in.call());
        }
    }

    /** A repeat with the same content has no effect; with other content it is refused, since the log has the first one. */
    private void repeat(BuffersRegistered in, BuffersRegistered pool) {
        if (pool.pages() != in.pages()) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "the session has a device pool of " + pool.pages() + " pages", false);
        } else if (!pool.configuration().equals(in.configuration())) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "the session has registered with another configuration: open a new one", false);
        } else {
            context.ports().engines().done(in.call());
        }
    }

    private String mismatch(BuffersRegistered in) {
        return "the agent moves blocks of " + context.registration().blockBytes() + " bytes with layouts "
                + context.registration().layoutDigest() + ", the engine has " + in.blockBytes() + " bytes with layouts " + in.layoutDigest();
    }

    /** Reports to the log the engines that attached before the registration. */
    public void reportAllAttached() {
        sessions.values().forEach(this::reportAttached);
    }

    private void reportAttached(Engine engine) {
        BuffersRegistered pool = engine.pool();
        if (pool != null) {
            context.append("", e -> new EngineAttached(e, engine.instance(), pool.pages(), pool.layoutDigest(), pool.configuration()));
        }
    }

    /** Why calls of a session about requests cannot be taken, as the refusal; empty when they can. */
    public Optional<Refusal> whyNot(String session) {
        Engine engine = sessions.get(session);
        if (engine == null) {
            return Optional.of(Refusal.UNKNOWN_SESSION);
        }
        return engine.pool() == null ? Optional.of(Refusal.NOT_REGISTERED) : Optional.empty();
    }

    /** The session is over; the caller has closed its device pool and ended its requests. One that is not open is nothing. */
    public void close(SessionClosed in) {
        Engine engine = sessions.remove(in.session());
        if (engine != null && engine.pool() != null) {
            context.append("", e -> new EngineDetached(e, engine.instance(), in.orderly()));
        }
    }

    /** Which engine instance has the session; null when it is over. */
    public @Nullable String instance(String session) {
        Engine engine = sessions.get(session);
        return engine == null ? null : engine.instance();
    }

    public boolean hasPool(String session) {
        Engine engine = sessions.get(session);
        return engine != null && engine.pool() != null;
    }
}
