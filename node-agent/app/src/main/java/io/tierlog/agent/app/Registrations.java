/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.log.CommandSource;
import io.tierlog.agent.app.log.EventsLostException;
import io.tierlog.agent.app.log.KafkaEventSink;
import io.tierlog.agent.app.log.LogLink;
import io.tierlog.agent.app.log.Registrar;
import io.tierlog.agent.app.log.RegistrationRefusedException;
import io.tierlog.agent.app.loop.AgentLoop;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Registered;
import io.tierlog.events.Causes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registrations of an agent, one after the other: each asks the controller until it answers, then commands are read. After a lost log it first
 * replaces the clients of the incarnation before. Safe for use by several threads; each registration has a thread of its own.
 */
final class Registrations implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Registrations.class);
    private static final long PAUSE_MS = 1_000;
    /** Agents that lost the log register again within so many ms, each at a time by chance. */
    private static final long RETURN_MS = 3_000;
    /** A full buffer that the brokers have not touched for so long is abandoned, ms. */
    private static final long SILENT_MS = 10_000;

    private final Parts parts;
    private final AtomicLong unreadableBefore = new AtomicLong();
    private final AtomicLong forgedBefore = new AtomicLong();
    /** One for each registration: it begins where the commands ended before the agent asked. */
    private volatile CommandSource commands;
    /** The process id that the controller accepted last, here or in the process before this one; null when none is known. */
    private volatile @Nullable String spokenFor;

    /** What the agent does about them. */
    interface Owner {
        /** Whether the agent ends, so that nothing is asked any more. */
        boolean isStopping();

        /** The event that asks. */
        Event registering(Envelope envelope);

        /** The controller has refused this process for good. */
        void refused(RegistrationRefusedException why);

        /** The agent must end. */
        void failed(Throwable why);
    }

    /**
     * What they need.
     *
     * @param patience how long to keep asking while another process is registered
     * @param openCommands opens a reader at the end of the commands
     */
    record Parts(String node, LogLink link, AgentLoop loop, Duration patience, Supplier<CommandSource> openCommands, Optional<LastProcess> last,
            Owner owner) {}

    Registrations(Parts parts) {
        this.parts = parts;
        commands = parts.openCommands().get();
        spokenFor = parts.last().flatMap(LastProcess::before).orElse(null);
    }

    /** The reader of the commands now. */
    CommandSource commands() {
        return commands;
    }

    /** Commands that could not be read, count. */
    long unreadable() {
        return unreadableBefore.get() + commands.unreadable();
    }

    /** Commands that were refused because of their code, count. */
    long forged() {
        return forgedBefore.get() + commands.forged();
    }

    /** The process id that the controller accepted last; null when none is known. */
    @Nullable String spokenFor() {
        return spokenFor;
    }

    /** Engines would be refused until the brokers answer; what a full buffer holds is mostly over by then. */
    void giveUpFullBuffer() {
        KafkaEventSink sink = parts.link().sink();
        if (sink.congested() && sink.silentMs() > SILENT_MS) {
            parts.link().lose(new EventsLostException(sink.unacknowledged() + " events wait for the brokers, which is the most, and none was"
                    + " acknowledged for " + sink.silentMs() / 1_000 + " s"));
        }
    }

    /**
     * Begins the next one.
     *
     * @param again whether there was one before, whose clients are replaced
     */
    void begin(boolean again) {
        Thread.ofPlatform().name("agent-" + parts.node() + "-register").daemon().start(() -> register(again));
    }

    private void register(boolean again) {
        Owner owner = parts.owner();
        try {
            boolean reopen = again;
            while (!owner.isStopping() && !((!reopen || reopened()) && isAnswered())) {
                reopen = true;
                Thread.sleep(PAUSE_MS);
            }
        } catch (RegistrationRefusedException e) {
            owner.refused(e);
        } catch (InterruptedException e) {
            owner.failed(new IllegalStateException("the registration was interrupted", e));
        } catch (RuntimeException | Error e) {
            if (!owner.isStopping()) {
                owner.failed(e);
            }
        }
    }

    /** False when brokers did not answer, or the question may not be in the log. */
    private boolean isAnswered() throws InterruptedException {
        LogLink link = parts.link();
        Function<Envelope, Event> question = parts.owner()::registering;
        Optional<Registered> accepted;
        try {
            accepted = new Registrar(link.log(), link, parts.patience(), () -> parts.owner().isStopping() || link.isLost()).register(question);
        } catch (RetriableException e) {
            return false;
        }
        if (accepted.isEmpty()) {
            return false;
        }
        String process = link.log().processId();
        spokenFor = process;
        link.sink().incarnation(accepted.get().incarnation());
        parts.last().ifPresent(file -> file.isNow(process));
        if (parts.loop().put(accepted.get())) {
            commands.start();
        }
        if (link.isLost()) {
            parts.loop().post(new AgentInput.LogLost()); // the first one came before the core was registered
        }
        return true;
    }

    /** False when no broker answers: it is asked again. */
    private boolean reopened() throws InterruptedException {
        if (parts.link().isLost()) {
            // All agents lose the log at once, and get it back at once.
            Thread.sleep(ThreadLocalRandom.current().nextLong(RETURN_MS));
        }
        try {
            if (parts.link().isLost()) {
                parts.link().begin();
            }
            reopenCommands();
            return true;
        } catch (AuthorizationException | AuthenticationException e) {
            throw e;
        } catch (KafkaException e) {
            LOG.warn("agent {}: brokers do not answer, it asks them again: {}", parts.node(), Causes.of(e));
            return false;
        }
    }

    /** Commands of the next incarnation are not read before the core has been accepted. */
    private synchronized void reopenCommands() {
        if (!parts.owner().isStopping()) {
            CommandSource next = parts.openCommands().get();
            unreadableBefore.addAndGet(commands.unreadable());
            forgedBefore.addAndGet(commands.forged());
            commands.close();
            commands = next;
        }
    }

    @Override
    public synchronized void close() {
        commands.close();
    }
}
