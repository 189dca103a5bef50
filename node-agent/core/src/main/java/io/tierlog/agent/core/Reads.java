/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.DeviceBlock;
import io.tierlog.agent.core.AgentInput.ReadAsked;
import io.tierlog.agent.core.device.PageOwner;
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
 * Blocks that engines read by name, without a request. What serves on the host is copied; what an operation of this agent is bringing there is
 * waited for, within one time for the whole call; nothing is fetched for it, since what to fetch is the controller's to decide. For what only the
 * disk has it is asked to decide ({@link PromotionAsks}), and the read does not wait for that.
 *
 * <p>For the core's one thread.
 */
final class Reads {
    private final Desk desk;
    private final Engines engines;
    private final Operations operations;
    private final PromotionAsks asks;
    private final Deadlines<ReadBack> waits = new Deadlines<>();

    Reads(Desk desk, Engines engines, Operations operations) {
        this.desk = desk;
        this.engines = engines;
        this.operations = operations;
        this.asks = new PromotionAsks(desk);
    }

    long nextDeadlineMs() {
        return waits.nextMs();
    }

    void run(ReadAsked in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        Optional<String> wrong =
                DoorCheck.scattered(in.namespace(), in.blocks(), desk.limits.bounds().keysPerRequest(), desk.device.capacity())
                        .or(() -> Loads.busyPage(desk, in.blocks()));
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), Engines.FIRST, false);
        } else if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
        } else if (!desk.takesWork()) {
            engines.refuse(in.call(), Refusal.CLOSING, "The agent goes away", false);
        } else if (operations.full() || waits.size() >= desk.limits.door().calls()) {
            engines.refuse(in.call(), Refusal.BUSY, "the agent has all the work it can take", true);
        } else {
            begin(in);
        }
    }

    private void begin(ReadAsked in) {
        List<Item> items = new ArrayList<>(in.blocks().size());
        in.blocks().forEach(block -> items.add(item(in.namespace(), block)));
        List<Block> missed = items.stream().filter(item -> item.state() == Item.State.SETTLED).map(item -> item.block).toList();
        ReadBack read = new ReadBack(desk, new PageOwner(in.session(), "", 0), in.namespace(), in.call(), items);
        read.pinBothEnds();
        desk.pages.touch(items.stream().filter(item -> item.state() == Item.State.PENDING).map(Item::requirePage).toList());
        long waitMs = Math.min(in.waitMs() < 0 ? desk.limits.door().readWaitMs() : in.waitMs(), desk.limits.door().mostReadWaitMs());
        operations.add(read);
        if (items.stream().anyMatch(item -> item.state() == Item.State.JOINED)) {
            waits.set(read, desk.nowMs() + waitMs);
            expire();
        }
        asks.missed(in.namespace(), missed);
    }

    private Item item(String namespace, DeviceBlock block) {
        Optional<Page> here = desk.pages.serving(namespace, block.key()).filter(page -> page.block().index() == block.index());
        Optional<Page> coming = desk.pages.coming(namespace, block.key()).filter(page -> page.block().index() == block.index());
        Block named = here.or(() -> coming).map(Page::block).orElseGet(() -> new Block(block.index(), block.key(), Bytes.EMPTY));
        Item item = new Item(named, block.page(), block.generation());
        if (here.isPresent()) {
            item.on(here.get());
        } else if (coming.isPresent()) {
            item.joins(coming.get());
        } else {
            item.failed(OperationReason.NOT_SERVING);
        }
        return item;
    }

    /** Reads whose waiting time is over go on with what the host holds. */
    void expire() {
        for (Optional<ReadBack> due = waits.pollDue(desk.nowMs()); due.isPresent(); due = waits.pollDue(desk.nowMs())) {
            operations.stopWaiting(due.get(), OperationReason.MOVED_ON);
        }
    }

    /** A session has ended: it waits no more. */
    void ended(Session session) {
        if (session instanceof ReadBack read) {
            waits.clear(read);
        }
    }
}
