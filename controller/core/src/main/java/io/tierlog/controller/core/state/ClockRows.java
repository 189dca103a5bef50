/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.state.ClockRow;

/** What rows of clocks mean. Without state. */
public final class ClockRows {
    private ClockRows() {}

    /** The clock of a partition that has just been opened. */
    public static ClockRow opened(int coreVersion) {
        return new ClockRow(0, 0, coreVersion, 0, Policies.INITIAL);
    }
}
