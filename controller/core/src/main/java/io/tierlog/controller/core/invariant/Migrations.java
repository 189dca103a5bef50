/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Migrations of a node that are in progress: each copy with a cause is submitted once, and completed once, right after its operation has ended and as
 * it has ended (I12). Confined to its node's fold.
 */
final class Migrations {
    private final NodeFold node;
    private final Map<String, Live> live = new LinkedHashMap<>();

    private static final class Live {
        private final OperationIssued issued;
        private boolean submitted;
        private @Nullable OperationEnded ended;

        Live(OperationIssued issued) {
            this.issued = issued;
        }
    }

    Migrations(NodeFold node) {
        this.node = node;
    }

    void state(FoldBytes io) {
        io.map(live, io::text, known -> {
            Live one = new Live(io.record(OperationIssued.TYPE, known == null ? null : known.issued));
            one.submitted = io.bool(known != null && known.submitted);
            OperationEnded ended = known == null ? null : known.ended;
            one.ended = io.bool(ended != null) ? io.record(OperationEnded.TYPE, ended) : null;
            return one;
        });
    }

    void issued(OperationIssued f) {
        if (f.kind() == OperationKind.COPY && f.move() != null) {
            Live one = new Live(f);
            one.submitted = f.from() == Tier.DEVICE; // its mark was submitted, when it was set
            live.put(f.operation(), one);
        }
    }

    void submitted(MigrationSubmitted f) {
        String operation = f.operation();
        if (operation == null) {
            return;
        }
        Live one = live.get(operation);
        if (one == null || one.submitted || f.keys().size() != one.issued.blocks().size()) {
            node.findings.say(Invariant.I12, "migration " + operation + " is submitted twice, or is no copy that was issued");
        } else {
            one.submitted = true;
        }
    }

    public void ended(OperationEnded f) {
        Live one = live.get(f.operation());
        if (one != null) {
            one.ended = f;
        }
    }

    void completed(MigrationCompleted f) {
        Live one = live.remove(f.operation());
        OperationEnded ended = one == null ? null : one.ended;
        if (ended == null) {
            node.findings.say(Invariant.I12, "migration " + f.operation() + " is completed, and no copy of that name has just ended");
        } else if (f.state() != ended.state() || f.doneBlocks() != ended.doneBlocks() || f.failedBlocks() != ended.failedBlocks()
                || f.movedBytes() != ended.movedBytes()) {
            node.findings.say(Invariant.I12, "migration " + f.operation() + " is completed otherwise than its operation has ended");
        }
    }

    /** What an input leads to is complete: a copy that it begins is submitted, one that it ends is completed. */
    void closeCause() {
        live.values().removeIf(one -> {
            boolean open = !one.submitted || one.ended != null;
            if (open) {
                node.findings.say(Invariant.I12, "migration " + one.issued.operation() + (one.submitted ? " has ended, and is not completed"
                        : " has begun, and is not submitted"));
            }
            return open;
        });
    }
}
