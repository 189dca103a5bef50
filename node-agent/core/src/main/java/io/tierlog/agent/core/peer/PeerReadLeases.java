/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.peer;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.PeerReadCalled;
import io.tierlog.agent.core.api.AgentInput.PeerReadFinished;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.PeerReplies;
import io.tierlog.agent.core.port.PeerReplies.LeasedPage;
import io.tierlog.agent.core.time.Deadlines;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.command.GrantPeerRead;
import io.tierlog.schemas.command.RefusePeerRead;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.PeerReadHeld;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeSet;

/**
 * The peer read leases of this node. A lease pins its blocks under its own name until each of them has been read, or it expires. Every read has a
 * pin of its own besides, so that no page is sent without a pin, also when the lease ends meanwhile.
 *
 * <p>A reader may come before its lease: it then gets the answer to try again. For the core's one thread.
 */
public final class PeerReadLeases implements Component {
    private final AgentContext context;
    private final Map<String, Lease> leases = new LinkedHashMap<>();
    private final SequencedMap<String, PeerReadReason> over = new LinkedHashMap<>();
    private final Map<Long, Sending> sendings = new LinkedHashMap<>();
    private final Deadlines<String> ends = new Deadlines<>();

    private static final class Lease {
        private final GrantPeerRead command;
        /** Blocks of which no read has ended, by key. */
        private final SequencedMap<Bytes, PagedBlock> left = new LinkedHashMap<>();
        /** Of the blocks of the command, by position, those that were sent whole. */
        private final TreeSet<Integer> sent = new TreeSet<>();
        private int reads;
        private long sentBytes;
        private PeerReadReason worst = PeerReadReason.COMPLETED;

        Lease(GrantPeerRead command) {
            this.command = command;
            command.blocks().forEach(block -> left.put(block.block().key(), block));
        }

        void sent(Bytes key) {
            for (int i = 0; i < command.blocks().size(); i++) {
                if (command.blocks().get(i).block().key().equals(key)) {
                    sent.add(i);
                }
            }
        }
    }

    private record Sending(Lease lease, String pin, List<Page> pages) {}

    public PeerReadLeases(AgentContext context) {
        this.context = context;
    }

    @Override
    public long nextDeadlineMs() {
        return ends.nextMs();
    }

    /** Reads that are being sent. */
    public int sending() {
        return sendings.size();
    }

    // --- commands

    public void grant(GrantPeerRead command) {
        if (context.phase() != AgentPhase.ON_LOG || leases.size() >= context.limits().peers().grants()) {
            ended(new Lease(command), PeerReadReason.BUSY);
            return;
        }
        List<Page> pages = new ArrayList<>(command.blocks().size());
        for (PagedBlock block : command.blocks()) {
            serving(command.namespace(), block).ifPresent(pages::add);
        }
        Lease lease = new Lease(command);
        if (pages.size() < command.blocks().size()) {
            ended(lease, PeerReadReason.NOT_SERVING);
            return;
        }
        pages.forEach(page -> context.pages().pin(command.grant(), page));
        leases.put(command.grant(), lease);
        over.remove(command.grant());
        ends.set(command.grant(), context.nowMs() + command.grantMs());
        context.append(command.header().command(),
                e -> new PeerReadHeld(e, command.grant(), command.namespace(), pages.stream().map(Page::paged).toList()));
    }

    private Optional<Page> serving(String namespace, PagedBlock block) {
        return context.pages().serving(namespace, block.block().key())
                .filter(page -> page.number() == block.page() && page.generation() == block.generation());
    }

    /** The controller refuses the lease, or closes it because its reader has abandoned the read. */
    public void refuse(RefusePeerRead command) {
        Lease lease = leases.get(command.grant());
        if (lease != null) {
            close(lease, command.reason());
        } else {
            remember(command.grant(), command.reason());
        }
    }

    /** The controller does not have this lease: its pins end. */
    public void released(String pin) {
        if (leases.remove(pin) != null) {
            ends.clear(pin);
            remember(pin, PeerReadReason.CANCELLED);
        }
    }

    // --- readers

    public void called(PeerReadCalled in) {
        PeerReplies replies = context.ports().peers().orElseThrow().replies();
        Lease lease = leases.get(in.grant());
        PeerReadReason why = over.get(in.grant());
        if (lease == null && why != null) {
            replies.refuse(in.call(), why == PeerReadReason.COMPLETED ? PeerReadReason.NOT_SERVING : why);
        } else if (!context.takesWork()) {
            replies.refuse(in.call(), PeerReadReason.CANCELLED);
        } else if (lease == null || sendings.size() >= context.limits().peers().reads()) {
            context.counters().increment(AgentCounter.PEER_READS_RETRIED);
            replies.retry(in.call(), context.limits().peers().retryMs());
        } else {
            List<Page> pages = leased(lease, in);
            if (pages.size() < in.keys().size() || pages.isEmpty()) {
                replies.refuse(in.call(), PeerReadReason.NOT_SERVING);
            } else {
                send(lease, in, pages);
            }
        }
    }

    /** The pages of the keys that the lease gives to that reader. */
    private List<Page> leased(Lease lease, PeerReadCalled in) {
        List<Page> pages = new ArrayList<>(in.keys().size());
        if (in.asker().equals(lease.command.asker()) && in.namespace().equals(lease.command.namespace())) {
            Map<Bytes, Page> pinned = new LinkedHashMap<>();
            context.pages().pinnedBy(in.grant()).forEach(page -> pinned.put(page.block().key(), page));
            for (Bytes key : in.keys()) {
                Page page = pinned.remove(key); // each once
                if (page != null && lease.left.containsKey(key)) {
                    pages.add(page);
                }
            }
        }
        return pages;
    }

    private void send(Lease lease, PeerReadCalled in, List<Page> pages) {
        String pin = in.grant() + "#" + ++lease.reads;
        pages.forEach(page -> context.pages().pin(pin, page));
        sendings.put(in.call(), new Sending(lease, pin, pages));
        context.ports().peers().orElseThrow().replies().send(
                in.call(), pages.stream().map(page -> new LeasedPage(page.block().key(), page.number(), page.crc32c())).toList());
    }

    /** A read has ended, whole or not. The reader does not read its blocks again: after a failure it reads the store. */
    public void readFinished(PeerReadFinished in) {
        Sending sending = sendings.remove(in.call());
        if (sending == null) {
            context.counters().increment(AgentCounter.LATE_COMPLETIONS);
            return;
        }
        context.pages().unpinAll(sending.pin);
        context.counters().add(AgentCounter.SENT_BLOCKS, in.sentBlocks());
        Lease lease = sending.lease;
        sending.pages.stream().limit(in.sentBlocks()).forEach(page -> lease.sent(page.block().key()));
        lease.sentBytes += in.sentBytes();
        if (in.reason() != PeerReadReason.COMPLETED) {
            lease.worst = in.reason();
        }
        sending.pages.forEach(page -> lease.left.remove(page.block().key()));
        for (Page page : sending.pages) {
            if (in.wrong().contains(page.block().key())) {
                context.condemn(page);
            }
        }
        if (lease.left.isEmpty() && leases.get(lease.command.grant()) == lease) {
            close(lease, lease.worst);
        }
    }

    // --- ends

    @Override
    public void expire() {
        for (Optional<String> due = ends.pollDue(context.nowMs()); due.isPresent(); due = ends.pollDue(context.nowMs())) {
            Lease lease = leases.get(due.get());
            if (lease != null) {
                close(lease, PeerReadReason.EXPIRED);
            }
        }
    }

    /** The agent stops; what is being sent is sent to its end. */
    public void closeAll() {
        List.copyOf(leases.values()).forEach(lease -> close(lease, PeerReadReason.CANCELLED));
    }

    private void close(Lease lease, PeerReadReason why) {
        String name = lease.command.grant();
        leases.remove(name);
        ends.clear(name);
        context.pages().unpinAll(name);
        ended(lease, why);
    }

    private void ended(Lease lease, PeerReadReason why) {
        String name = lease.command.grant();
        remember(name, why);
        List<Integer> sent = List.copyOf(lease.sent);
        long bytes = lease.sentBytes;
        context.append(lease.command.header().command(), e -> new PeerReadEnded(e, name, why, sent.size(), bytes, sent));
    }

    private void remember(String lease, PeerReadReason why) {
        if (over.size() >= context.limits().peers().grants()) {
            over.pollFirstEntry();
        }
        over.putLast(lease, why);
    }
}
