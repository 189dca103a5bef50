/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.decision.PeerReadClosed;
import io.tierlog.schemas.decision.PeerReadGranted;

/** What facts about what is lent to other nodes change. Without state. */
@SuppressWarnings("DoNotCallSuggester")
final class EvolvePeerReads {
    private EvolvePeerReads() {}

    static void granted(Tables t, PeerReadGranted fact) {
        throw new IllegalHistory("This build lends nothing");
    }

    static void closed(Tables t, PeerReadClosed fact) {
        throw new IllegalHistory("This build lends nothing");
    }
}
