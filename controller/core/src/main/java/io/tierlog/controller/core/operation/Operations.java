/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.operation;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.Move;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.decision.OperationIssued;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How operations are issued: an id, a fact, and the header for the command. Without state. */
public final class Operations {
    private Operations() {}

    /**
     * What an operation is for.
     *
     * @param request request it serves, for a PROMOTE the peer read lease; null when none
     * @param attempt attempt of that request; 0 when none
     * @param namespace namespace of the blocks
     * @param root key of block 0 of the prompt; no bytes when it is not needed
     */
    public record Purpose(@Nullable String request, int attempt, String namespace, Bytes root) {}

    /** An operation that was issued: its id, and the header of its command. */
    public record Issued(String operation, CommandHeader header) {}

    public static Issued issue(NodeContext n, OperationKind kind, Tier from, Purpose purpose, List<Block> blocks) {
        return issue(n, Move.of(kind, from), purpose, blocks, new Because(null, null));
    }

    /** Issues a DROP and its command; {@code reliesOn} is the tier where the agent must see each block, {@code move} what led to it, if anything. */
    public static void drop(NodeContext n, Tier tier, String namespace, List<PagedBlock> blocks, Tier reliesOn, @Nullable MoveCause move) {
        Issued issued = issue(n, new Move(OperationKind.DROP, tier, Tier.UNKNOWN), new Purpose(null, 0, namespace, Bytes.EMPTY), Blocks.of(blocks),
                new Because(move, null, reliesOn));
        n.command(new DropBlocks(n.envelope(), issued.header(), issued.operation(), tier, namespace, blocks, reliesOn));
    }

    /** Issues an operation between two tiers, with its cause; null when the kind is the reason. */
    public static Issued issue(NodeContext n, Move move, Purpose purpose, List<Block> blocks, @Nullable MoveCause cause) {
        return issue(n, move, purpose, blocks, new Because(cause, null));
    }

    /**
     * The cause of an operation.
     *
     * @param move what led to it; null when the kind is the reason
     * @param peer name of the node that serves some of the blocks for a peer read; null when none does
     * @param reliesOn for a DROP: tier where the agent must see each block; UNKNOWN when a last copy may go, and for other kinds
     */
    public record Because(@Nullable MoveCause move, @Nullable String peer, Tier reliesOn) {
        public Because(@Nullable MoveCause move, @Nullable String peer) {
            this(move, peer, Tier.UNKNOWN);
        }
    }

    public static Issued issue(NodeContext n, Move move, Purpose purpose, List<Block> blocks, Because because) {
        String operation = n.nextId();
        CommandHeader header = n.nextHeader();
        n.fact(new OperationIssued(n.envelope(), operation, move.kind(), move.from(), move.to(), purpose.request(), purpose.attempt(),
                purpose.namespace(),
                purpose.root(), blocks, header.commandSequence(), n.in(n.policy().operationTimeoutMs()),
                because.move(), because.peer(), because.reliesOn()));
        return new Issued(operation, header);
    }
}
