/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.decision.PromotionSettled;
import io.tierlog.schemas.decision.PromotionsPaused;

/** What facts about promotions change. Without state. */
@SuppressWarnings("DoNotCallSuggester")
final class EvolvePromotions {
    private EvolvePromotions() {}

    static void answered(Tables t, PromotionAnswered fact) {
        throw new IllegalHistory("This build promotes nothing");
    }

    static void paused(Tables t, PromotionsPaused fact) {
        throw new IllegalHistory("This build promotes nothing");
    }

    static void settled(Tables t, PromotionSettled fact) {
        throw new IllegalHistory("This build promotes nothing");
    }
}
