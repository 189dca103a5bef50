/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.request;

import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.decide.Quotas;
import io.tierlog.controller.core.operation.Operations;
import io.tierlog.controller.core.peer.PeerCosts;
import io.tierlog.controller.core.policy.Groups;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.state.Move;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.controller.core.writeback.WriteBacks;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PeerSource;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.LeaseRequested;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.state.RequestRow;
import java.util.List;

/**
 * An attempt of a request arrives: it is matched, what it uses is touched, and what is missing on the host is fetched when that is more
 * than the threshold. Without state.
 */
public final class Submissions {
    private Submissions() {}

    public static void decide(NodeContext n, RequestSubmitted e) {
        String broken = Checks.submission(n.limits(), e);
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
            return;
        }
        RequestRow row = n.request(e.request());
        if (row != null && !isNewer(n, e, row)) {
            return;
        }
        if (row != null && !RequestStates.isEnd(row.state())) {
            RequestReason reason = n.isCurrent(row.incarnation()) ? RequestReason.NEW_ATTEMPT : RequestReason.NODE_LOST;
            Requests.end(n, e.request(), row, RequestState.CANCELLED, reason);
        }
        admit(n, e);
    }

    private static boolean isNewer(NodeContext n, RequestSubmitted e, RequestRow row) {
        if (e.attempt() > row.attempt() || (e.attempt() == row.attempt() && !n.isCurrent(row.incarnation()))) {
            return true;
        }
        if (e.attempt() == row.attempt()) {
            n.refuse(e, RefusalReason.DUPLICATE_REQUEST,
                    "Attempt " + e.attempt() + " of " + e.request() + " is " + row.state());
        } else {
            n.refuse(e, RefusalReason.STALE_ATTEMPT, "Attempt " + row.attempt() + " of " + e.request() + " has begun");
        }
        return false;
    }

    private static void admit(NodeContext n, RequestSubmitted e) {
        Match found = e.reuseEligible() ? Match.of(n, e) : Match.NOTHING;
        long free = found.fetch().isEmpty() ? 0 : Quotas.free(n, Groups.of(n.policy(), e.namespace()), Tier.HOST);
        Match match = found.within(free);
        n.fact(new RequestAdmitted(n.envelope(), e.request(), e.attempt(), e.namespace(), e.keys().size(), Match.reusable(e),
                e.deviceBlocks(), match.hostBlocks(), e.keepsPages(), e.instance()));
        boolean draining = n.isDraining(e.instance());
        boolean fetching = e.reuseEligible() && !e.answered() && match.fetch().size() > n.policy().prefetchThresholdBlocks() && !draining;
        touch(n, e, Tier.HOST, match.deepest());
        touch(n, e, Tier.DISK, match.usedOnDisk(fetching));
        Promotions.asked(n, e.namespace(), match.promoted(), match.promoting(), fetching ? match.fetch() : List.of());
        if (!e.reuseEligible()) {
            prefill(n, e, RequestReason.NOT_REUSE_ELIGIBLE);
        } else if (e.answered()) {
            prefill(n, e, RequestReason.ANSWERED_AT_ONCE);
        } else if (fetching) {
            fetch(n, e, match);
        } else if (draining && found.fetch().size() > n.policy().prefetchThresholdBlocks()) {
            prefill(n, e, RequestReason.DRAINING);
        } else if (found.fetch().size() > n.policy().prefetchThresholdBlocks()) {
            prefill(n, e, RequestReason.QUOTA_EXCEEDED);
        } else {
            prefill(n, e, match.fetch().isEmpty() ? RequestReason.NOTHING_BELOW : RequestReason.BELOW_THRESHOLD);
        }
        if (match.fetch().size() < found.fetch().size() && !e.answered()) {
            Quotas.exceeded(n, OperationKind.PREFETCH, Tier.HOST, Groups.of(n.policy(), e.namespace()), e.namespace(),
                    found.fetch().size());
        }
        WriteBacks.reused(n, e, match.lacking());
        WriteBacks.used(n, e, fetching ? match.fetch().size() : 0);
    }

    private static void touch(NodeContext n, RequestSubmitted e, Tier tier, List<Block> deepest) {
        if (!deepest.isEmpty()) {
            n.fact(new BlocksTouched(n.envelope(), tier, e.namespace(), deepest, n.offset()));
        }
    }

    /** The attempt goes on with what it has; a waiting one is notified. */
    private static void prefill(NodeContext n, RequestSubmitted e, RequestReason reason) {
        Requests.transition(n, e.request(), e.attempt(), RequestState.SUBMITTED, RequestState.PREFILLING, reason);
        if (!e.answered()) {
            n.command(new ResumeRequest(n.envelope(), n.nextHeader(), e.request(), e.attempt(), reason));
        }
    }

    private static void fetch(NodeContext n, RequestSubmitted e, Match match) {
        Policy policy = n.policy();
        Bytes root = e.keys().getFirst();
        PeerSource peer = match.sources().contains(Tier.HOST) ? PeerCosts.source(e) : null;
        Operations.Issued issued = Operations.issue(n, Move.of(OperationKind.PREFETCH, match.source()),
                new Operations.Purpose(e.request(), e.attempt(), e.namespace(), root), match.fetch(),
                new Operations.Because(null, peer == null ? null : peer.node()));
        String lease = n.nextId();
        n.fact(new LeaseRequested(n.envelope(), lease, issued.operation(), e.request(), e.attempt(), n.in(policy.leaseMs())));
        Requests.transition(n, e.request(), e.attempt(), RequestState.SUBMITTED, RequestState.PREFETCHING, RequestReason.FETCH_ISSUED);
        n.command(new PrefetchBlocks(n.envelope(), issued.header(), issued.operation(), lease, policy.leaseMs(), e.request(), e.attempt(),
                e.namespace(), root, match.fetch(), match.sources(), match.buildsOn(), peer));
    }
}
