/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;

/** Names of the counters of a {@link Window}. Without state. */
public final class Names {
    public static final String EVENTS = "records.events";
    public static final String FACTS = "records.facts";
    public static final String COMMANDS = "records.commands";
    public static final String UNREADABLE = "records.unreadable";
    public static final String SKIPPED = "inputs.skipped";
    public static final String REFUSED = "inputs.refused";
    public static final String SUBMITTED = "requests.submitted";
    public static final String AT_ONCE = "requests.at_once";
    public static final String EXPIRED = "requests.expired";
    public static final String LOST_NODES = "nodes.lost";
    public static final String OVERDUE = "operations.overdue";
    public static final String MOVED = "moved.";
    public static final String EVICTED = "evicted.";
    public static final String LAST_COPIES = "last_copies.";
    public static final String MISSED = "missed.";
    public static final String ENDS = "ends.";
    public static final String REJECTED = "rejected.";
    private static final String HITS = "blocks.";
    private static final String OPERATIONS = "operations.";

    private Names() {}

    /** Bytes from a tier to another; UNKNOWN stands for several. */
    public static String moved(Tier from, Tier to) {
        return MOVED + from + "." + to;
    }

    /** Blocks that left a tier. */
    public static String evicted(Tier tier, RemovalReason reason) {
        return EVICTED + tier + "." + reason;
    }

    /** Blocks that left a tier without another known placement. */
    public static String lastCopies(Tier tier, RemovalReason reason) {
        return LAST_COPIES + tier + "." + reason;
    }

    /** Blocks that were not migrated. */
    public static String rejected(MoveTrigger trigger, Tier from, Tier to, MigrationRefusal reason) {
        return REJECTED + trigger + "." + from + "." + to + "." + reason;
    }

    /** Operations that started. */
    public static String started(OperationKind kind) {
        return OPERATIONS + kind + ".started";
    }

    /** Operations that ended. */
    public static String ended(OperationKind kind, OperationState state) {
        return OPERATIONS + kind + "." + state;
    }

    /** Adds blocks of prompts. */
    public static void add(Counters to, HitCounts more) {
        to.add(HITS + "requests", more.requests());
        to.add(HITS + "device", more.device());
        to.add(HITS + "host", more.host());
        to.add(HITS + "disk", more.disk());
        to.add(HITS + "store", more.store());
        to.add(HITS + "peer", more.peer());
        to.add(HITS + "computed", more.computed());
    }

    /** Blocks of prompts. */
    public static HitCounts hits(Counters from) {
        return new HitCounts(from.get(HITS + "requests"), from.get(HITS + "device"), from.get(HITS + "host"), from.get(HITS + "disk"),
                from.get(HITS + "store"), from.get(HITS + "peer"), from.get(HITS + "computed"));
    }
}
