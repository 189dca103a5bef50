/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.decision.GroupsAdvanced;

/** Facts about the groups that copies count for. Without state. */
final class EvolveGroups {
    private EvolveGroups() {}

    static void advanced(Tables t, GroupsAdvanced fact) {}
}
