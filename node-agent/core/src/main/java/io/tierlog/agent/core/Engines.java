/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.BuffersRegistered;
import io.tierlog.agent.core.AgentInput.SessionClosed;
import io.tierlog.agent.core.AgentInput.SessionOpened;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineDetached;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of engines. Several may be open, but one alone may have a device pool, since device pages are known by their number.
 *
 * <p>For the core's one thread.
 */
final class Engines {
    /** What a caller without a session and a device pool has to do. */
    static final String FIRST = "open a session and register buffers first";

    private record Engine(String instance, @Nullable BuffersRegistered pool) {}

    private final Desk desk;
    private final Operations operations;
    private final SequencedMap<String, Engine> sessions = new LinkedHashMap<>();

    Engines(Desk desk, Operations operations) {
        this.desk = desk;
        this.operations = operations;
    }

    void refuse(long call, Refusal refusal, String detail, boolean retry) {
        desk.counters.increment(AgentCounter.CALLS_REFUSED);
        desk.ports.engines().refused(call, refusal, detail, retry);
    }

    void unknownLease(long call, String lease) {
        String detail = "no lease " + lease + " of this session: it was loaded, released or has ended, or was never given";
        refuse(call, Refusal.UNKNOWN_LEASE, detail, false);
    }

    void open(SessionOpened in) {
        if (!desk.takesWork()) {
            refuse(in.call(), Refusal.CLOSING, "The agent goes away", false);
        } else if (DoorCheck.badText(in.instance())) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "instance must have a name", false);
        } else if (sessions.containsKey(in.session())) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "session " + in.session() + " is open", false);
        } else if (sessions.values().stream().anyMatch(engine -> engine.instance().equals(in.instance()))) {
            refuse(in.call(), Refusal.INSTANCE_TAKEN, "instance " + in.instance() + " has a session", true);
        } else if (sessions.size() >= AgentLimits.MAX_ENGINE_SESSIONS) {
            refuse(in.call(), Refusal.BUSY, "there are " + sessions.size() + " sessions", true);
        } else {
            sessions.put(in.session(), new Engine(in.instance(), null));
            desk.ports.engines().done(in.call());
        }
    }

    void register(BuffersRegistered in) {
        Engine engine = sessions.get(in.session());
        if (engine == null) {
            refuse(in.call(), Refusal.UNKNOWN_SESSION, "open a session first", false);
        } else if (!desk.takesWork()) {
            refuse(in.call(), Refusal.CLOSING, "The agent goes away", false);
        } else if (in.blockBytes() != desk.registration.blockBytes()
                || !in.layoutDigest().equals(desk.registration.layoutDigest())) {
            refuse(in.call(), Refusal.LAYOUT_MISMATCH, mismatch(in), false);
        } else if (in.pages() < 1 || in.pages() > AgentLimits.MAX_DEVICE_PAGES) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "pages must be 1 to " + AgentLimits.MAX_DEVICE_PAGES, false);
        } else if (engine.pool() != null) {
            repeat(in, engine.pool());
        } else if (desk.device.capacity() > 0) {
            refuse(in.call(), Refusal.INSTANCE_TAKEN, "another instance has its device pool here: one agent serves one", true);
        } else if (operations.deviceBusy()) {
            refuse(in.call(), Refusal.BUSY, "copies of an earlier session are still under way", true);
        } else {
            Engine attached = new Engine(engine.instance(), in);
            sessions.put(in.session(), attached);
            desk.device.open(in.pages());
            tellAttached(attached);
            desk.ports.engines().done(in.call());
        }
    }

    /** Said twice is said once; with anything else in it, the log would go on with what was said first. */
    private void repeat(BuffersRegistered in, BuffersRegistered pool) {
        if (pool.pages() != in.pages()) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "the session has a device pool of " + pool.pages() + " pages", false);
        } else if (!pool.configuration().equals(in.configuration())) {
            refuse(in.call(), Refusal.BAD_ARGUMENT, "the session has registered with another configuration: open a new one", false);
        } else {
            desk.ports.engines().done(in.call());
        }
    }

    private String mismatch(BuffersRegistered in) {
        return "the agent moves blocks of " + desk.registration.blockBytes() + " bytes with layouts "
                + desk.registration.layoutDigest() + ", the engine has " + in.blockBytes() + " bytes with layouts " + in.layoutDigest();
    }

    /** Engines that came before the registration are told to the log once there is one. */
    void tellAllAttached() {
        sessions.values().forEach(this::tellAttached);
    }

    private void tellAttached(Engine engine) {
        BuffersRegistered pool = engine.pool();
        if (pool != null) {
            desk.tell("", e -> new EngineAttached(e, engine.instance(), pool.pages(), pool.layoutDigest(), pool.configuration()));
        }
    }

    /** Why calls of a session about requests cannot be taken, as the refusal; empty when they can. */
    Optional<Refusal> whyNot(String session) {
        Engine engine = sessions.get(session);
        if (engine == null) {
            return Optional.of(Refusal.UNKNOWN_SESSION);
        }
        return engine.pool() == null ? Optional.of(Refusal.NOT_REGISTERED) : Optional.empty();
    }

    /** The session is over; the caller has closed its device pool and ended its requests. One that is not open is nothing. */
    void close(SessionClosed in) {
        Engine engine = sessions.remove(in.session());
        if (engine != null && engine.pool() != null) {
            desk.tell("", e -> new EngineDetached(e, engine.instance(), in.orderly()));
        }
    }

    /** Which engine instance has the session; null when it is over. */
    @Nullable String instance(String session) {
        Engine engine = sessions.get(session);
        return engine == null ? null : engine.instance();
    }

    boolean hasPool(String session) {
        Engine engine = sessions.get(session);
        return engine != null && engine.pool() != null;
    }
}
