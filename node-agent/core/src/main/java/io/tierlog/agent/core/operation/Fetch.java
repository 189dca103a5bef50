/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.port.DiskTransfers.PageRead;
import io.tierlog.schemas.OperationReason;
import java.util.List;

/**
 * A transfer into host pages that reads the disk; pages that arrive after a cancel are freed. For the core's one thread.
 */
public abstract sealed class Fetch extends TransferSession permits Prefetch, Promote {
    /**
     * The fields of the command.
     *
     * @param operation id of the operation
     * @param cause id of the command
     * @param namespace namespace of the blocks
     * @param lease name of the pins of what arrives
     * @param leaseMs how long those pins last, in milliseconds
     */
    public record Order(String operation, String cause, String namespace, String lease, long leaseMs) {}

    final HostFill fill;
    private final Order order;

    Fetch(AgentContext context, HostFill fill, Order order, List<BlockTransfer> items) {
        super(context, order.operation(), order.cause(), order.namespace(), items, State.RUNNING);
        this.fill = fill;
        this.order = order;
    }

    final String lease() {
        return order.lease();
    }

    /** A unit whose blocks all have a placement on the disk. */
    final void readDisk(long unit, List<BlockTransfer> batch) {
        context.ports().disk().read(unit, namespace, batch.stream()
                .map(item -> new PageRead(item.block.key(), item.requirePlacement().generation(), item.requirePage().number())).toList());
    }

    /** Whether the disk returned the placement that the log has. */
    static boolean isKnown(DiskPlacement copy, UnitResult result) {
        return result.crc32c() == copy.crc32c() && result.generation() == copy.generation();
    }

    /** The disk does not give the block: a copy that is not what it should be leaves it. */
    final void condemnIfWrong(DiskPlacement copy, OperationReason why) {
        boolean wrong = switch (why) {
            case CHECKSUM, NOT_FOUND, STALE_GENERATION, UNSUPPORTED -> true;
            default -> false; // the disk may do better another time
        };
        if (wrong) {
            context.disk().condemn(copy);
        }
    }

    @Override
    void unknown(BlockTransfer item, Quarantine.Case held) {
        fill.quarantine(item, held);
        if (stream(item) == TransferPort.DISK) {
            held.keepSource(item.requirePlacement());
        }
    }

    @Override
    void joinEnded(BlockTransfer item, boolean serves, OperationReason whyNot) {
        fill.joinEnded(item, operation, serves, whyNot);
    }

    @Override
    void cancelled(OperationReason why) {
        useless(why);
    }

    /** The lease keeps these blocks from here on, and nothing else of the operation does. */
    final void keepLeased(List<BlockTransfer> kept) {
        kept.forEach(item -> context.pages().pin(order.lease(), item.requirePage()));
        context.pages().endPinsAt(order.lease(), context.nowMs() + order.leaseMs());
    }

    final void unpin() {
        context.pages().unpinAll(operation);
        context.disk().index().unpinAll(operation);
    }
}
