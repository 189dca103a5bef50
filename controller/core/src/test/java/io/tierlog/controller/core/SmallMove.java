/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.controller.core.SmallWorld.Side;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BackUpFailed;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.DropFailed;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The alphabet of the enumeration: the next event of an agent. The test also gives each input twice and under wrong incarnations. */
enum SmallMove {
    /** The next process of the node registers. */
    START,
    /** The next attempt of the request is submitted, and waits. */
    SUBMIT,
    /** The next attempt of the request is submitted, and was answered at once. */
    ANSWER,
    PREFILLED,
    SEALED,
    FINISHED,
    CANCELLED,
    WAIT_EXPIRED,
    LOADED,
    /** The oldest command is done in full. */
    DONE,
    /** To its first block. */
    PART,
    /** To nothing. */
    FAILED,
    /** It is not begun. */
    REFUSED,
    /** The message is lost: no receiver gets it. */
    LOST,
    /** The last answer again, under a new number. */
    AGAIN,
    /** The agent evicts its deepest host placement that no operation holds. */
    EVICTED,
    STOPPING;

    private static final String REQUEST = "r";

    /** The world after this move of one agent; null when it cannot be made now. */
    @Nullable SmallWorld play(Core core, SmallWorld w, Side side) {
        if (this == START) {
            Side next = side.nextProcess();
            return w.step(core, next.agent().registering(), next);
        }
        if (side.incarnation() == 0) {
            return null;
        }
        if (this == LOST) {
            return side.open().isEmpty() ? null : w.without(side.answered(null), "loses a command");
        }
        Agent agent = side.agent();
        int attempt = Math.max(1, side.attempt());
        return switch (this) {
            case SUBMIT -> w.step(core, agent.submit(REQUEST, SmallWorld.PATH).attempt(side.attempt() + 1).store(0, 2).event(), side.begun());
            case ANSWER -> w.step(core, agent.submit(REQUEST, SmallWorld.PATH).attempt(side.attempt() + 1).answered().event(), side.begun());
            case PREFILLED -> w.step(core, agent.prefilled(REQUEST, attempt), side);
            case SEALED -> w.step(core, agent.sealed(REQUEST, attempt, Agent.paged(SmallWorld.PATH, 0, 2, 10)), side);
            case FINISHED -> w.step(core, agent.finished(REQUEST, attempt), side);
            case CANCELLED -> w.step(core, agent.cancelled(REQUEST, attempt), side);
            case WAIT_EXPIRED -> w.step(core, agent.waitExpired(REQUEST, attempt), side);
            case LOADED -> w.step(core, new LoadBackDone(agent.envelope(), "load", REQUEST, attempt, Agent.NAMESPACE,
                    Agent.arrived(Agent.blocks(SmallWorld.PATH, 0, 2), 20), 0, 0), side);
            case EVICTED -> evicted(core, w, side);
            case STOPPING -> w.step(core, agent.stopping(), side);
            case AGAIN -> {
                Event answered = side.answered();
                yield answered == null ? null : w.step(core, answered.withEnvelope(agent.envelope()), side);
            }
            case DONE, PART, FAILED, REFUSED -> side.open().isEmpty() ? null : answer(core, w, side);
            case START, LOST -> throw new IllegalStateException("dealt with above");
        };
    }

    private @Nullable SmallWorld answer(Core core, SmallWorld w, Side side) {
        Side filled = side.filled();
        Event event = event(side.agent(), side.open().getFirst(), filled.generation());
        return event == null ? null : w.step(core, event, filled.answered(event));
    }

    private @Nullable Event event(Agent agent, Command command, long generation) {
        if (this == REFUSED) {
            return command instanceof CancelOperation ? null : refused(agent, command);
        }
        return switch (command) {
            case PrefetchBlocks c -> this == FAILED
                    ? new PrefetchFailed(agent.envelope(), c.operation(), OperationReason.IO, Agent.NAMESPACE, none(c.blocks()))
                    : new PrefetchDone(agent.envelope(), c.operation(), c.lease(), Agent.NAMESPACE, some(c.blocks(), generation), 0, 0);
            case WriteBackBlocks c -> this == FAILED
                    ? new WriteBackFailed(agent.envelope(), c.operation(), OperationReason.IO, Agent.NAMESPACE, none(Blocks.of(c.blocks())))
                    : new WriteBackDone(agent.envelope(), c.operation(), Agent.NAMESPACE, some(Blocks.of(c.blocks()), generation), 0, 0);
            case BackUpBlocks c -> this == FAILED
                    ? new BackUpFailed(agent.envelope(), c.operation(), OperationReason.IO, Agent.NAMESPACE, none(Blocks.of(c.blocks())))
                    : new BackUpDone(agent.envelope(), c.operation(), Agent.NAMESPACE, some(Blocks.of(c.blocks()), 1), 0, 0);
            case DropBlocks c -> this == FAILED || this == PART
                    ? new DropFailed(agent.envelope(), c.operation(), c.tier(), OperationReason.PINNED, Agent.NAMESPACE,
                            Agent.failed(Blocks.of(c.blocks()), OperationReason.PINNED))
                    : new DropDone(agent.envelope(), c.operation(), c.tier(), Agent.NAMESPACE, Agent.gone(c));
            case CancelOperation c -> this == DONE
                    ? new OperationCancelled(agent.envelope(), c.operation(), OperationReason.NEVER_STARTED, "", List.of())
                    : null;
            default -> null;
        };
    }

    private static Event refused(Agent agent, Command command) {
        return switch (command) {
            case PrefetchBlocks c -> refused(agent, c.header(), c.operation());
            case WriteBackBlocks c -> refused(agent, c.header(), c.operation());
            case BackUpBlocks c -> refused(agent, c.header(), c.operation());
            case DropBlocks c -> refused(agent, c.header(), c.operation());
            default -> throw new IllegalStateException("never open: " + command);
        };
    }

    private static Event refused(Agent agent, CommandHeader header, String operation) {
        return new CommandRefused(agent.envelope(), header.command(), header.commandSequence(), operation, OperationReason.COMMAND_CONFLICT, "");
    }

    private static List<BlockResult> none(List<Block> blocks) {
        return Agent.failed(blocks, OperationReason.IO);
    }

    private List<BlockResult> some(List<Block> blocks, long generation) {
        int arrived = this == PART ? 1 : blocks.size();
        List<BlockResult> results = new ArrayList<>();
        for (BlockResult r : Agent.fetched(blocks.subList(0, arrived), blocks.getFirst().index())) {
            results.add(new BlockResult(r.block(), r.status(), r.reason(), r.page(), generation, r.crc32c(), r.source()));
        }
        results.addAll(none(blocks.subList(arrived, blocks.size())));
        return results;
    }

    private static @Nullable SmallWorld evicted(Core core, SmallWorld w, Side side) {
        for (int i = 1; i >= 0; i--) {
            Block block = Agent.block(SmallWorld.PATH, i);
            PlacementRow row = w.tables().get(Rows.PLACEMENTS,
                    new RowKey.Placement("node/" + side.node(), Namespaces.digest(Agent.NAMESPACE), Tier.HOST, block.key()));
            if (row != null && row.incarnation() == side.incarnation() && row.state() == PlacementState.SERVING && PlacementRows.isLeaf(row)) {
                return w.step(core, side.agent().evicted(Tier.HOST, RemovalReason.PRESSURE,
                        List.of(new PagedBlock(block, row.page(), row.generation(), 0))), side);
            }
        }
        return null;
    }
}
