/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.event.PromotionRequested;

/** Blocks that are expected to be asked for come from the disk to the host ahead of requests. Without state. */
final class Promotions {
    private Promotions() {}

    static void requested(NodeDraft n, PromotionRequested e) {
        n.d.refuse(n.envelope(), e, RefusalReason.OVER_LIMIT, "This build promotes nothing");
    }
}
