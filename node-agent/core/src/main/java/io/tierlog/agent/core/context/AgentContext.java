/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.context;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentInput.Registration;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.device.DevicePins;
import io.tierlog.agent.core.device.DevicePins.Released;
import io.tierlog.agent.core.journal.CommandJournal;
import io.tierlog.agent.core.page.BouncePages;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.page.PageState;
import io.tierlog.agent.core.page.PageTable;
import io.tierlog.agent.core.page.PageTable.Evicted;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What all parts of the core share: the tables, the journal, the ports, the time of the current input, and the way to the log.
 *
 * <p>For the core's one thread.
 */
public final class AgentContext {
    /**
     * A terminal event that can be repeated. A repeat names the number of the first one: a controller that has forgotten the operation meanwhile
     * must not apply it as a new event.
     */
    public static final class Terminal {
        private final String cause;
        private final Function<Envelope, Event> event;
        private long first;

        public Terminal(String cause, Function<Envelope, Event> event) {
            this.cause = cause;
            this.event = event;
        }

        private Event next(Envelope e) {
            if (first == 0) {
                first = e.sequence();
                return event.apply(e);
            }
            return event.apply(new Envelope(e.aggregate(), e.sender(), e.incarnation(), e.sequence(), e.previousCrc32c(), e.timeMs(), e.cause(),
                    e.traceContext(), e.taken(), first));
        }
    }

    private final AgentLimits limits;
    private final Registration registration;
    private final Ports ports;
    private final PageTable pages;
    private final BouncePages bounce;
    private final DevicePins device = new DevicePins();
    private final DiskTier disk;
    private final CommandJournal<Terminal> journal;
    private final Counters counters = new Counters();

    private final String aggregate;
    private AgentPhase phase = AgentPhase.UNREGISTERED;
    private long incarnation;
    private int thresholdBlocks;
    private long nowMs = Long.MIN_VALUE;
    private long units;
    private long loads;
    private long leases;
    private long saves;

    public AgentContext(AgentLimits limits, Registration registration, Ports ports) {
        this.limits = limits;
        this.registration = registration;
        this.ports = ports;
        this.pages = new PageTable(registration.hostBlocks());
        this.bounce = new BouncePages(registration.hostBlocks(), limits.bounceBlocks());
        this.journal = new CommandJournal<>(limits.bounds().journal(), limits.bounds().journalBlocks());
        this.aggregate = "node/" + registration.node();
        this.disk = new DiskTier(this);
    }

    // --- parts

    public AgentLimits limits() {
        return limits;
    }

    public Registration registration() {
        return registration;
    }

    public Ports ports() {
        return ports;
    }

    /** The pages of the HOST tier. */
    public PageTable pages() {
        return pages;
    }

    /** Pages of the agent's own, in no tier, that copies go through. */
    public BouncePages bounce() {
        return bounce;
    }

    /** Content and pins of the engine's device pages. */
    public DevicePins device() {
        return device;
    }

    public DiskTier disk() {
        return disk;
    }

    public CommandJournal<Terminal> journal() {
        return journal;
    }

    public Counters counters() {
        return counters;
    }

    // --- phase, incarnation and time

    public String aggregate() {
        return aggregate;
    }

    public AgentPhase phase() {
        return phase;
    }

    public void become(AgentPhase next) {
        if (!phase.mayBecome(next)) {
            throw new IllegalStateException("An agent that is " + phase + " may not become " + next);
        }
        phase = next;
    }

    /** True from registration on, until the epoch ends: events have somewhere to go. */
    public boolean onTheLog() {
        return incarnation > 0;
    }

    /** True while work that costs something may begin. */
    public boolean takesWork() {
        return switch (phase) {
            case UNREGISTERED, ON_LOG, REJOINING -> true;
            case STOPPING, FENCED, STOPPED -> false;
        };
    }

    public long incarnation() {
        return incarnation;
    }

    public void incarnation(long registered) {
        incarnation = registered;
    }

    /** A fetch is worth it for more blocks than this, by the policy at registration. A hint: the controller decides. */
    public int thresholdBlocks() {
        return thresholdBlocks;
    }

    public void thresholdBlocks(int blocks) {
        thresholdBlocks = blocks;
    }

    public long nowMs() {
        return nowMs;
    }

    /** Time moves on; a caller whose clock went back is taken to stand still. */
    public void nowMs(long ms) {
        nowMs = Math.max(nowMs, ms);
    }

    /** Use of each tier that is the agent's. */
    public List<TierUsage> usage() {
        return disk.exists() ? List.of(pages.usage(), disk.index().usage()) : List.of(pages.usage());
    }

    public long nextUnit() {
        return ++units;
    }

    public String nextLoad() {
        return registration.node() + "/load/" + incarnation + "/" + ++loads;
    }

    public String nextSave() {
        return registration.node() + "/save/" + incarnation + "/" + ++saves;
    }

    public String nextLease() {
        return registration.node() + "/lease/" + incarnation + "/" + ++leases;
    }

    // --- events and notices

    /** Appends an event about this node; before registration there is no log to append to. */
    public void append(String cause, Function<Envelope, Event> event) {
        append(aggregate, cause, event);
    }

    /** A terminal event, for the first time or again. */
    public void append(Terminal terminal) {
        append(terminal.cause, terminal::next);
    }

    public void append(String about, String cause, Function<Envelope, Event> event) {
        if (onTheLog()) {
            ports.events().append(about, cause, event);
        }
    }

    /** Appends the one terminal event of an operation that a command began. */
    public void end(String operation, String cause, int blocks, Function<Envelope, Event> event) {
        Terminal terminal = new Terminal(cause, event);
        journal.ended(operation, terminal, blocks);
        append(terminal);
    }

    /** A command is not run; for its operation, if it has one that may end, this is the terminal event. */
    public void refuse(CommandHeader header, @Nullable String operation, OperationReason why, String detail) {
        counters.increment(AgentCounter.COMMANDS_REFUSED);
        Function<Envelope, Event> event =
                e -> new CommandRefused(e, header.command(), header.commandSequence(), operation, why, detail);
        if (operation == null || why == OperationReason.STALE_COMMAND) {
            append(header.command(), event);
        } else {
            end(operation, header.command(), 0, event);
        }
    }

    /** A host page has wrong bytes: its block does not serve from now on. */
    public void condemn(Page page) {
        counters.increment(AgentCounter.CHECKSUM_FAILURES);
        if (page.state() == PageState.SERVING) {
            String namespace = page.namespace();
            List<PagedBlock> gone = List.of(page.paged());
            pages.leave(page);
            append("", e -> new BlocksEvicted(e, Tier.HOST, namespace, RemovalReason.CHECKSUM, gone));
        }
    }

    /** Tells engines which pages of ended attempts are free. */
    public void noticeReleased(List<Released> all) {
        for (Released one : all) {
            var owner = one.owner();
            ports.engines().released(owner.session(), owner.request(), owner.attempt(), one.pages());
        }
    }

    /** Notifies an engine of those of these pages that have no pin; the holder of a pin sees to the others. */
    public void noticeFree(Attempt owner, List<Integer> pages) {
        List<Integer> free = pages.stream().distinct().filter(page -> !device.pinned(page)).toList();
        if (!free.isEmpty()) {
            ports.engines().released(owner.session(), owner.request(), owner.attempt(), free);
        }
    }

    /** Reports evictions under pressure. */
    public void appendEvicted(String cause, List<Evicted> gone) {
        Map<String, List<PagedBlock>> byNamespace = new LinkedHashMap<>();
        for (Evicted one : gone) {
            byNamespace.computeIfAbsent(one.namespace(), any -> new ArrayList<>()).add(one.block());
            counters.increment(AgentCounter.EVICTED_BLOCKS);
            counters.add(AgentCounter.LAST_COPIES_EVICTED, one.lastCopy() ? 1 : 0);
        }
        int most = limits.disk().recoveredPerRecord();
        byNamespace.forEach((namespace, blocks) -> {
            // As many as a record can name, in their order: none before those that extend it.
            for (int from = 0; from < blocks.size(); from += most) {
                List<PagedBlock> some = blocks.subList(from, Math.min(from + most, blocks.size()));
                append(cause, e -> new BlocksEvicted(e, Tier.HOST, namespace, RemovalReason.PRESSURE, some));
            }
        });
    }
}
