/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.Tier;
import org.jspecify.annotations.Nullable;

/** Whether a block may be copied to a colder tier, and why not. Without state. */
final class Admission {
    private Admission() {}

    /** Why the block may not be copied; null when it may. */
    static @Nullable MigrationRefusal refusal(NodeDraft n, String namespace, Bytes key, Tier source, Tier target) {
        return null;
    }

    /** Blocks that a further copy of the group on the route may have, within what the route and the node allow; 0 when none may begin. */
    static int room(NodeDraft n, String group, Tier source, Tier target) {
        return 0;
    }
}
