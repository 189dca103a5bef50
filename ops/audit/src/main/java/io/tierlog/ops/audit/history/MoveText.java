/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.Tier;

/** The cause of a move as people read it. Static and without state. */
final class MoveText {
    /** Levels are shares with so many steps. */
    private static final double STEPS = 1_000;

    private MoveText() {}

    /** What led to a move from a tier, with its numbers then; empty when that is unknown. */
    static String of(MoveCause move, Tier from) {
        String group = move.group().isEmpty() ? "" : " of group " + move.group();
        String version = " (policy version " + move.policyVersion() + ")";
        String level = from + " at " + Math.round(move.level() * STEPS) / STEPS;
        return switch (move.trigger()) {
            case ROUTE -> "route" + group + ": " + level + ", threshold " + move.threshold() + version;
            case WATER_LEVEL -> "high mark" + group + ": " + level + ", mark " + move.threshold() + version;
            case OPERATOR -> "migration " + move.migration() + " of an operator" + version;
            case DRAIN -> "drain" + version;
            case UNKNOWN -> "";
        };
    }
}
