/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.event.MigrationRequested;

/** A migration that an operator asked for: split by node, answers collected, cancelled and ended. Without state. */
final class MigrationInputs {
    private MigrationInputs() {}

    static void requested(Draft d, MigrationRequested e) {}

    static void cancel(Draft d, MigrationCancelRequested e) {}

    static void reported(Draft d, MigrationReported e) {}
}
