/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Scan;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.state.SealedRow;
import java.util.ArrayList;
import java.util.List;

/** Reports of sealed blocks that were not considered for write-back yet. Without state. */
public final class SealedReports {
    private SealedReports() {}

    /** A report of sealed blocks. */
    public record Report(RowKey.Sealed key, SealedRow row) {}

    /** What an attempt has sealed and nobody has considered for write-back yet, in the order of the reports. */
    public static List<Report> of(Tables t, String aggregate, String request, int attempt) {
        List<Report> found = new ArrayList<>();
        try (Scan<RowKey.Sealed, SealedRow> scan = t.range(Rows.SEALED, new RowKey.Sealed(aggregate, request, attempt, 0),
                new RowKey.Sealed(aggregate, request, attempt, Integer.MAX_VALUE))) {
            while (scan.next()) {
                found.add(new Report(scan.key(), scan.value()));
            }
        }
        return found;
    }
}
