/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.api.Outcome;

/** What became of an input, as a label. */
enum Outcomes {
    APPLIED,
    REFUSED,
    SKIPPED;

    static Outcomes of(Outcome outcome) {
        return switch (outcome) {
            case Outcome.Applied _ -> APPLIED;
            case Outcome.Refused _ -> REFUSED;
            case Outcome.Skipped _ -> SKIPPED;
        };
    }
}
