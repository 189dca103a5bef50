/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.state.ClockRow;

/** What rows of clocks mean. Without state. */
final class ClockRows {
    private ClockRows() {}

    /** The clock of a partition that has just been opened. */
    static ClockRow opened(int coreVersion) {
        return new ClockRow(0, 0, coreVersion, 0, Policies.INITIAL);
    }
}
