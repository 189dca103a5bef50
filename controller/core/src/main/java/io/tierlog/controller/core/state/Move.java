/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.state.OperationRow;

/**
 * What an operation does, and between which tiers.
 *
 * @param kind its purpose
 * @param from tier that the bytes come from, or that they leave; UNKNOWN when they come from several, or when the report does not name it
 * @param to tier that the bytes go to; UNKNOWN for a drop, or when the report does not name it
 */
public record Move(OperationKind kind, Tier from, Tier to) {
    /** The move of that kind from a tier: the kind determines the target. */
    public static Move of(OperationKind kind, Tier from) {
        Tier to = switch (kind) {
            case WRITE_BACK, PREFETCH, PROMOTE -> Tier.HOST;
            case LOAD_BACK -> Tier.DEVICE;
            case BACK_UP -> Tier.STORE;
            case COPY -> Tier.DISK;
            case DROP, UNKNOWN -> Tier.UNKNOWN;
        };
        return new Move(kind, from, to);
    }

    public static Move of(OperationRow row) {
        return new Move(row.kind(), row.from(), row.to());
    }

    public static Move of(OperationIssued fact) {
        return new Move(fact.kind(), fact.from(), fact.to());
    }

    /** The tier whose placements it writes, drops or holds. */
    public Tier subject() {
        return kind == OperationKind.DROP || kind == OperationKind.BACK_UP ? from : to;
    }

    /** Whether a report of {@code reported} can be about this: it has the same purpose, and the same tiers where the purpose leaves them open. */
    public boolean isLike(Move reported) {
        boolean open = kind == OperationKind.DROP || kind == OperationKind.COPY;
        return open ? equals(reported) : kind == reported.kind;
    }

    /** Whether the kind of operation exists between these tiers. */
    public boolean exists() {
        return switch (kind) {
            case DROP -> from == Tier.HOST || from == Tier.DISK;
            case COPY -> (to == Tier.DISK || to == Tier.STORE) && (from == Tier.DEVICE || from == Tier.HOST || (from == Tier.DISK && to != from));
            case WRITE_BACK, LOAD_BACK, PREFETCH, BACK_UP, PROMOTE, UNKNOWN -> true;
        };
    }
}
