/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.call;

import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.ReadCalled;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.agent.core.engine.EngineSessions;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.ReadBack;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.time.Deadlines;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Blocks that engines read by name, without a request. The read copies what serves on the host, and waits for blocks that an operation of this
 * agent is bringing there, within one time for the whole call. It fetches nothing: the controller decides what to fetch. For blocks that only the
 * disk has it requests a promotion ({@link PromotionRequests}) and does not wait for it.
 *
 * <p>For the core's one thread.
 */
public final class ReadCalls implements Component {
    private final AgentContext context;
    private final EngineSessions engines;
    private final Operations operations;
    private final PromotionRequests asks;
    private final Deadlines<ReadBack> waits = new Deadlines<>();

    public ReadCalls(AgentContext context, EngineSessions engines, Operations operations) {
        this.context = context;
        this.engines = engines;
        this.operations = operations;
        this.asks = new PromotionRequests(context);
    }

    @Override
    public long nextDeadlineMs() {
        return waits.nextMs();
    }

    public void run(ReadCalled in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        Optional<String> wrong =
                EngineCallChecks.scattered(in.namespace(), in.blocks(), context.limits().bounds().blocksPerCall(), context.device().capacity())
                        .or(() -> LoadCalls.busyPage(context, in.blocks()));
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), EngineSessions.FIRST, false);
        } else if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
        } else if (!context.takesWork()) {
            engines.refuse(in.call(), Refusal.CLOSING, "The agent stops", false);
        } else if (operations.full() || waits.size() >= context.limits().engines().calls()) {
            engines.refuse(in.call(), Refusal.BUSY, "the agent is at its limit of work", true);
        } else {
            begin(in);
        }
    }

    private void begin(ReadCalled in) {
        List<BlockTransfer> items = new ArrayList<>(in.blocks().size());
        in.blocks().forEach(block -> items.add(item(in.namespace(), block)));
        List<Block> missed = items.stream().filter(item -> item.state() == BlockTransfer.State.SETTLED).map(item -> item.block()).toList();
        ReadBack read = new ReadBack(context, new PageOwner(in.session(), "", 0), in.namespace(), in.call(), items);
        read.pinBothEnds();
        context.pages().touch(items.stream().filter(item -> item.state() == BlockTransfer.State.PENDING).map(BlockTransfer::requirePage).toList());
        long waitMs = Math.min(in.waitMs() < 0 ? context.limits().engines().readWaitMs() : in.waitMs(), context.limits().engines().mostReadWaitMs());
        operations.add(read);
        if (items.stream().anyMatch(item -> item.state() == BlockTransfer.State.JOINED)) {
            waits.set(read, context.nowMs() + waitMs);
            expire();
        }
        asks.missed(in.namespace(), missed);
    }

    private BlockTransfer item(String namespace, DeviceBlock block) {
        Optional<Page> here = context.pages().serving(namespace, block.key()).filter(page -> page.block().index() == block.index());
        Optional<Page> coming = context.pages().coming(namespace, block.key()).filter(page -> page.block().index() == block.index());
        Block named = here.or(() -> coming).map(Page::block).orElseGet(() -> new Block(block.index(), block.key(), Bytes.EMPTY));
        BlockTransfer item = new BlockTransfer(named, block.page(), block.generation());
        if (here.isPresent()) {
            item.on(here.get());
        } else if (coming.isPresent()) {
            item.joins(coming.get());
        } else {
            item.failed(OperationReason.NOT_SERVING);
        }
        return item;
    }

    /** Reads whose waiting time is over continue with what the host holds. */
    @Override
    public void expire() {
        for (Optional<ReadBack> due = waits.pollDue(context.nowMs()); due.isPresent(); due = waits.pollDue(context.nowMs())) {
            operations.stopWaiting(due.get(), OperationReason.MOVED_ON);
        }
    }

    /** A session has ended: its wait ends. */
    public void ended(TransferSession session) {
        if (session instanceof ReadBack read) {
            waits.clear(read);
        }
    }
}
