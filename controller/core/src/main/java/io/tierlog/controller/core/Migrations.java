/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.OperationRow;
import java.util.List;

/** Copies to colder tiers that routes, operators and drains ask for. Without state. */
final class Migrations {
    private Migrations() {}

    /** Issues one copy, puts it on record as submitted, and answers with its operation. The caller has admitted every block. */
    static String copy(NodeDraft n, MoveCause cause, Tier source, Tier target, String namespace, Bytes root, List<PagedBlock> blocks) {
        return "";
    }

    /** A copy that had a cause has ended, and its operation is on record as ended: puts the migration's end on record, clears matching marks, drops
     * the sources that may go. */
    static void ended(NodeDraft n, String operation, OperationRow row, Completion c, Settlement s) {
        if (row.move() != null) {
            throw new UnsupportedOperationException("migrations");
        }
    }
}
