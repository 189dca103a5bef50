/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.PeerReadHeld;
import io.tierlog.schemas.event.PeerReadRequested;

/** A node lends blocks to another one. Without state. */
final class PeerReads {
    private PeerReads() {}

    static void requested(NodeDraft n, PeerReadRequested e) {
        n.d.refuse(n.envelope(), e, RefusalReason.OVER_LIMIT, "This build lends nothing");
    }

    static void held(NodeDraft n, PeerReadHeld e) {
        n.d.refuse(n.envelope(), e, RefusalReason.OPERATION_UNKNOWN, "This build lends nothing");
    }

    static void ended(NodeDraft n, PeerReadEnded e) {
        n.d.refuse(n.envelope(), e, RefusalReason.OPERATION_UNKNOWN, "This build lends nothing");
    }
}
