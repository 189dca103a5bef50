/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.operation;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.state.Move;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.decision.OperationIssued;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How operations are issued: an id, a fact, and the header for the command. Without state. */
public final class Operations {
    private Operations() {}

    /**
     * What an operation is for.
     *
     * @param request request it serves, for a PROMOTE the grant; null when none
     * @param attempt attempt of that request; 0 when none
     * @param namespace namespace of the blocks
     * @param root key of block 0 of the prompt; no bytes when it does not matter
     */
    public record Purpose(@Nullable String request, int attempt, String namespace, Bytes root) {}

    /** An operation that was issued: its id, and the header of its command. */
    public record Issued(String operation, CommandHeader header) {}

    public static Issued issue(NodeContext n, OperationKind kind, Tier from, Purpose purpose, List<Block> blocks) {
        return issue(n, Move.of(kind, from), purpose, blocks, new Because(null, null));
    }

    /** The same between two tiers, with what led to it; null for what needs no more reason than its kind. */
    public static Issued issue(NodeContext n, Move move, Purpose purpose, List<Block> blocks, @Nullable MoveCause cause) {
        return issue(n, move, purpose, blocks, new Because(cause, null));
    }

    /**
     * What an operation owes itself to.
     *
     * @param move what led to it; null for what needs no more reason than its kind
     * @param peer name of the node that lends some of the blocks; null when none does
     */
    public record Because(@Nullable MoveCause move, @Nullable String peer) {}

    public static Issued issue(NodeContext n, Move move, Purpose purpose, List<Block> blocks, Because because) {
        String operation = n.nextId();
        CommandHeader header = n.nextHeader();
        n.fact(new OperationIssued(n.envelope(), operation, move.kind(), move.from(), move.to(), purpose.request(), purpose.attempt(),
                purpose.namespace(),
                purpose.root(), blocks, header.commandSequence(), n.in(n.policy().operationTimeoutMs()),
                because.move(), because.peer()));
        return new Issued(operation, header);
    }


}
