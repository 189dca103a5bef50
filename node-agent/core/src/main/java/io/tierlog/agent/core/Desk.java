/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.Attempt;
import io.tierlog.agent.core.AgentInput.Registration;
import io.tierlog.agent.core.device.DevicePins;
import io.tierlog.agent.core.device.DevicePins.Released;
import io.tierlog.agent.core.journal.CommandJournal;
import io.tierlog.agent.core.page.BouncePages;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.page.PageState;
import io.tierlog.agent.core.page.PageTable;
import io.tierlog.agent.core.page.PageTable.Evicted;
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
 * What every room of the core works with: the tables, the journal, the ports, the time of the input at hand, and how things are said.
 *
 * <p>For the core's one thread.
 */
final class Desk {
    /**
     * A terminal event that can be said again, and then names the number under which it was said first: a controller that has forgotten the operation
     * by then must not take what it says for news.
     */
    static final class Terminal {
        private final String cause;
        private final Function<Envelope, Event> event;
        private long first;

        Terminal(String cause, Function<Envelope, Event> event) {
            this.cause = cause;
            this.event = event;
        }

        private Event said(Envelope e) {
            if (first == 0) {
                first = e.sequence();
                return event.apply(e);
            }
            return event.apply(new Envelope(e.aggregate(), e.sender(), e.incarnation(), e.sequence(), e.previousCrc32c(), e.timeMs(), e.cause(),
                    e.traceContext(), e.taken(), first));
        }
    }

    final AgentLimits limits;
    final Registration registration;
    final Ports ports;
    final PageTable pages;
    final BouncePages bounce;
    final DevicePins device = new DevicePins();
    final DiskTier disk;
    final CommandJournal<Terminal> journal;
    final Counters counters = new Counters();

    private final String aggregate;
    private AgentPhase phase = AgentPhase.UNREGISTERED;
    private long incarnation;
    private int thresholdBlocks;
    private long nowMs = Long.MIN_VALUE;
    private long units;
    private long loads;
    private long leases;
    private long saves;

    Desk(AgentLimits limits, Registration registration, Ports ports) {
        this.limits = limits;
        this.registration = registration;
        this.ports = ports;
        this.pages = new PageTable(registration.hostBlocks());
        this.bounce = new BouncePages(registration.hostBlocks(), limits.bounceBlocks());
        this.journal = new CommandJournal<>(limits.bounds().journal(), limits.bounds().journalBlocks());
        this.aggregate = "node/" + registration.node();
        this.disk = new DiskTier(this);
    }

    // --- where and when

    String aggregate() {
        return aggregate;
    }

    AgentPhase phase() {
        return phase;
    }

    void become(AgentPhase next) {
        if (!phase.mayBecome(next)) {
            throw new IllegalStateException("An agent that is " + phase + " may not become " + next);
        }
        phase = next;
    }

    /** True from registration on: events have somewhere to go. */
    boolean onTheLog() {
        return incarnation > 0;
    }

    /** True while work that costs something may begin. */
    boolean takesWork() {
        return phase == AgentPhase.UNREGISTERED || phase == AgentPhase.ON_LOG;
    }

    long incarnation() {
        return incarnation;
    }

    void incarnation(long registered) {
        incarnation = registered;
    }

    /** Fetched is only more than so many blocks, as the policy had it when the agent registered. A hint: the controller decides. */
    int thresholdBlocks() {
        return thresholdBlocks;
    }

    void thresholdBlocks(int blocks) {
        thresholdBlocks = blocks;
    }

    long nowMs() {
        return nowMs;
    }

    /** Time moves on; a caller whose clock went back is taken to stand still. */
    void nowMs(long ms) {
        nowMs = Math.max(nowMs, ms);
    }

    /** Use of each tier that is the agent's. */
    List<TierUsage> usage() {
        return disk.exists() ? List.of(pages.usage(), disk.index.usage()) : List.of(pages.usage());
    }

    long nextUnit() {
        return ++units;
    }

    String nextLoad() {
        return registration.node() + "/load/" + incarnation + "/" + ++loads;
    }

    String nextSave() {
        return registration.node() + "/save/" + incarnation + "/" + ++saves;
    }

    String nextLease() {
        return registration.node() + "/lease/" + incarnation + "/" + ++leases;
    }

    // --- saying things

    /** An event about this node; before registration there is nobody to tell. */
    void tell(String cause, Function<Envelope, Event> event) {
        tell(aggregate, cause, event);
    }

    /** A terminal event, for the first time or again. */
    void tell(Terminal terminal) {
        tell(terminal.cause, terminal::said);
    }

    void tell(String about, String cause, Function<Envelope, Event> event) {
        if (onTheLog()) {
            ports.events().append(about, cause, event);
        }
    }

    /** The one terminal event of an operation that a command asked for. */
    void end(String operation, String cause, int blocks, Function<Envelope, Event> event) {
        Terminal terminal = new Terminal(cause, event);
        journal.ended(operation, terminal, blocks);
        tell(terminal);
    }

    /** A command is not run; for its operation, if it has one that may end, this is the terminal event. */
    void refuse(CommandHeader header, @Nullable String operation, OperationReason why, String detail) {
        counters.increment(AgentCounter.COMMANDS_REFUSED);
        Function<Envelope, Event> event =
                e -> new CommandRefused(e, header.command(), header.commandSequence(), operation, why, detail);
        if (operation == null || why == OperationReason.STALE_COMMAND) {
            tell(header.command(), event);
        } else {
            end(operation, header.command(), 0, event);
        }
    }

    /** A host page does not hold what it should: its block serves no longer. */
    void condemn(Page page) {
        counters.increment(AgentCounter.CHECKSUM_FAILURES);
        if (page.state() == PageState.SERVING) {
            String namespace = page.namespace();
            List<PagedBlock> gone = List.of(page.paged());
            pages.leave(page);
            tell("", e -> new BlocksEvicted(e, Tier.HOST, namespace, RemovalReason.CHECKSUM, gone));
        }
    }

    /** Tells engines which pages of ended attempts are free. */
    void released(List<Released> all) {
        for (Released one : all) {
            var owner = one.owner();
            ports.engines().released(owner.session(), owner.request(), owner.attempt(), one.pages());
        }
    }

    /** Tells an engine which of these pages nobody pins; whoever pins the others sees to them. */
    void tellFree(Attempt owner, List<Integer> pages) {
        List<Integer> free = pages.stream().distinct().filter(page -> !device.pinned(page)).toList();
        if (!free.isEmpty()) {
            ports.engines().released(owner.session(), owner.request(), owner.attempt(), free);
        }
    }

    /** Blocks had to go for want of room. */
    void evicted(String cause, List<Evicted> gone) {
        Map<String, List<PagedBlock>> byNamespace = new LinkedHashMap<>();
        for (Evicted one : gone) {
            byNamespace.computeIfAbsent(one.namespace(), any -> new ArrayList<>()).add(one.block());
            counters.increment(AgentCounter.EVICTED_BLOCKS);
            counters.add(AgentCounter.LAST_COPIES_EVICTED, one.lastCopy() ? 1 : 0);
        }
        byNamespace.forEach((namespace, blocks) ->
                tell(cause, e -> new BlocksEvicted(e, Tier.HOST, namespace, RemovalReason.PRESSURE, blocks)));
    }
}
