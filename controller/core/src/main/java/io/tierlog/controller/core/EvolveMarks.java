/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.decision.MarkAdded;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.decision.MarkExpired;

/** Facts about marks. Without state. */
final class EvolveMarks {
    private EvolveMarks() {}

    static void added(Tables t, MarkAdded fact) {}

    static void consumed(Tables t, MarkConsumed fact) {}

    static void expired(Tables t, MarkExpired fact) {}

    static void cleared(Tables t, MarkCleared fact) {}
}
