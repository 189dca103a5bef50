/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.result;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.operation.OperationResult;
import io.tierlog.controller.core.placement.PlacementEffects;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.request.Requests;
import io.tierlog.controller.core.state.Move;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.OrphanAdopted;
import io.tierlog.schemas.event.LoadBackEvent;
import io.tierlog.schemas.state.RequestRow;

/** Loads to the device: engine and agent agree on them between themselves, and the log receives their ends afterwards. Without state. */
public final class LoadBackResults {
    private LoadBackResults() {}

    public static void decide(NodeContext n, LoadBackEvent e) {
        OperationResult c = OperationResult.of(e, Move.of(OperationKind.LOAD_BACK, Tier.HOST));
        String broken = PlacementEffects.broken(n, c);
        if (broken != null) {
            n.refuse(e, RefusalReason.OVER_LIMIT, broken);
            return;
        }
        PlacementEffects.adopted(n, c);
        int done = c.doneBlocks();
        n.fact(new OrphanAdopted(n.envelope(), c.operation(), c.kind(), c.state(), true, done, c.results().size() - done, c.movedBytes()));
        if (e.request().isEmpty()) {
            Promotions.read(n, c); // what requests load was asked for when they came
        }
        RequestRow row = n.request(e.request());
        if (row != null && row.attempt() == e.attempt() && n.isCurrent(row.incarnation())) {
            Requests.endLease(n, row.lease(), LeaseEndReason.LOADED);
        }
    }
}
