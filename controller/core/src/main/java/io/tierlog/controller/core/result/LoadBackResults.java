/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.result;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.operation.OperationResult;
import io.tierlog.controller.core.placement.PlacementEffects;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.request.Requests;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import io.tierlog.schemas.state.RequestRow;

/** Loads to the device are between engine and agent; the log hears of them afterwards. Without state. */
public final class LoadBackResults {
    private LoadBackResults() {}

    public static void done(NodeContext n, LoadBackDone e) {
        ended(n, e, OperationResult.of(e), e.request(), e.attempt());
    }

    public static void failed(NodeContext n, LoadBackFailed e) {
        ended(n, e, OperationResult.of(e), e.request(), e.attempt());
    }

    private static void ended(NodeContext n, Event e, OperationResult c, String request, int attempt) {
        String broken = PlacementEffects.broken(n, c);
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, "This does not hold: " + broken);
            return;
        }
        PlacementEffects.adopted(n, c);
        int done = c.doneBlocks();
        n.fact(new OrphanAdopted(n.envelope(), c.operation(), c.kind(), c.state(), true, done, c.results().size() - done, c.movedBytes()));
        if (request.isEmpty()) {
            Promotions.read(n, c); // what requests load was asked for when they came
        }
        RequestRow row = n.request(request);
        if (row != null && row.attempt() == attempt && n.isOfThisLife(row.incarnation())) {
            Requests.endLease(n, row.lease(), LeaseEndReason.LOADED);
        }
    }
}
