/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.LeaseHeld;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.event.PeerReadHeld;
import io.tierlog.schemas.event.PeerReadRequested;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Leases of a node that have not ended: requested once, granted at most once and by the agent's own event, ended once (I1). */
final class Leases {
    private final NodeFold node;
    private final Map<String, Live> live = new LinkedHashMap<>();

    private static final class Live {
        final long incarnation;
        final long requestedAt;
        final long endMs;
        boolean held;

        Live(long incarnation, long requestedAt, long endMs) {
            this.incarnation = incarnation;
            this.requestedAt = requestedAt;
            this.endMs = endMs;
        }
    }

    Leases(NodeFold node) {
        this.node = node;
    }

    void state(FoldBytes io) {
        io.map(live, io::text, known -> {
            Live one = new Live(
                    io.int64(known == null ? 0 : known.incarnation),
                    io.int64(known == null ? 0 : known.requestedAt),
                    io.int64(known == null ? 0 : known.endMs));
            one.held = io.bool(known != null && known.held);
            return one;
        });
    }

    private Live begins(LeaseRequested f) {
        return new Live(f.envelope().incarnation(), node.findings.offset(), f.endMs());
    }

    boolean isLive(String lease) {
        return live.containsKey(lease);
    }

    void requested(LeaseRequested f, Cause cause) {
        if (f.operation().isEmpty()) {
            granted(f, cause);
            return;
        }
        if (live.containsKey(f.lease()) || !cause.gives(node.aggregate, f.lease())) {
            node.findings.say(Invariant.I1, "lease " + f.lease() + " is asked for a second time, or its id is not of the event it answers");
        }
        Operations.Live operation = node.operations.find(f.operation());
        boolean promotes = operation != null && operation.kind() == OperationKind.PROMOTE;
        if (operation == null || (operation.kind() != OperationKind.PREFETCH && !promotes)) {
            node.findings.say(Invariant.I1, "lease " + f.lease() + " waits for " + f.operation() + ", which is no fetch in progress");
        }
        if (promotes && f.request().isEmpty()) {
            live.put(f.lease(), begins(f));
            return;
        }
        Requests.Live owner = node.requests.find(f.request(), f.attempt());
        if (promotes) {
            if (!f.request().isEmpty() || f.attempt() != 0) {
                node.findings.say(Invariant.I5, "lease " + f.lease() + " is of a promotion, and names " + f.request());
            }
        } else if (owner == null) {
            node.findings.say(Invariant.I5, "lease " + f.lease() + " is for " + f.request() + ", which has ended or never began");
        } else {
            owner.lease = f.lease();
        }
        live.put(f.lease(), begins(f));
    }

    /** The pin lease of a peer read has the name that the reader gave it. */
    private void granted(LeaseRequested f, Cause cause) {
        boolean asked = cause.event instanceof PeerReadRequested e && e.grant().equals(f.lease());
        if (live.put(f.lease(), begins(f)) != null || (!asked && cause.event != null)) {
            node.findings.say(Invariant.I1, "lease " + f.lease() + " is granted a second time, or was never requested");
        }
    }

    void held(LeaseHeld f, Cause cause) {
        Live lease = live.get(f.lease());
        if (lease == null || lease.held) {
            node.findings.say(Invariant.I1, "lease " + f.lease()
                    + (lease == null ? " is granted, and it has ended or never began" : " is granted twice"));
            return;
        }
        lease.held = true;
        if (cause.event instanceof PeerReadHeld e && e.grant().equals(f.lease())) {
            if (!e.blocks().stream().map(PagedBlock::block).toList().containsAll(f.blocks())) {
                node.findings.say(Invariant.I1, "grant " + f.lease() + " holds blocks that the agent does not name");
            }
            return;
        }
        Ending ending = cause.ending;
        if (ending == null || !f.lease().equals(ending.lease()) || !names(ending.blocks(), f.blocks())) {
            node.findings.say(Invariant.I1, "lease " + f.lease() + " is granted, and the agent does not say that it holds these blocks");
        }
    }

    /** Whether all of {@code blocks} came, in their order. */
    private static boolean names(List<BlockResult> results, List<Block> blocks) {
        int at = 0;
        for (Block block : blocks) {
            while (at < results.size() && !(Ending.isThere(results.get(at)) && results.get(at).block().equals(block))) {
                at++;
            }
            if (at++ >= results.size()) {
                return false;
            }
        }
        return true;
    }

    void ended(LeaseEnded f, long timeMs) {
        Live lease = live.remove(f.lease());
        if (lease == null) {
            node.findings.say(Invariant.I1, "lease " + f.lease() + " ends, and it has ended before or never began");
        } else if (f.reason() == LeaseEndReason.EXPIRED && timeMs < lease.endMs) {
            node.findings.say(Invariant.I1, "lease " + f.lease() + " expires at " + timeMs + " ms, and ends at " + lease.endMs);
        }
    }

    void swept() {
        live.forEach((id, lease) -> {
            if (node.isStale(lease.incarnation)) {
                node.findings.say(Invariant.I1, "lease " + id + " of incarnation " + lease.incarnation + " has no end after the sweep");
            }
        });
    }

    void atRest() {
        live.forEach((id, lease) -> node.findings.sayOfDecision(Invariant.I1, lease.requestedAt, "at rest lease " + id + " has no end"));
    }
}
