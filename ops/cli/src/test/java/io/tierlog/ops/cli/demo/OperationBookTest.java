/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OrphanAdopted;
import java.util.List;
import org.junit.jupiter.api.Test;

class OperationBookTest {
    private static final Envelope ENVELOPE = new Envelope("node/a", "controller/0", 1, 1, 0, 0, null, null, null);

    private final OperationBook book = new OperationBook();

    @Test
    void addsUp() {
        book.take(issued("1", OperationKind.PREFETCH));
        book.take(issued("2", OperationKind.WRITE_BACK));
        book.take(issued("3", OperationKind.WRITE_BACK));
        book.take(ended("1", OperationKind.PREFETCH, OperationState.DONE, 100));
        book.take(ended("2", OperationKind.WRITE_BACK, OperationState.FAILED, 0));
        book.take(new OrphanAdopted(ENVELOPE, "a/load/1/1", OperationKind.LOAD_BACK, OperationState.DONE, true, 2, 0, 30));

        // 3 issued + 1 adopted = 2 done + 1 failed + 1 open
        assertEquals(new OperationBook.Totals(4, 2, 1, 0, 0, 1, 0), book.totals());
        assertEquals(100, book.bytesByKind().get(OperationKind.PREFETCH));
        assertEquals(30, book.bytesByKind().get(OperationKind.LOAD_BACK));
        assertEquals(2, book.startedByKind().get(OperationKind.WRITE_BACK));
    }

    @Test
    void countsASecondEndAndASecondStartAsBreaches() {
        book.take(issued("1", OperationKind.DROP));
        book.take(issued("1", OperationKind.DROP));
        book.take(ended("1", OperationKind.DROP, OperationState.DONE, 0));
        book.take(ended("1", OperationKind.DROP, OperationState.DONE, 0));

        assertEquals(2, book.totals().breaches());
    }

    private static OperationIssued issued(String id, OperationKind kind) {
        return new OperationIssued(
                ENVELOPE, id, kind, Tier.HOST, Tier.STORE, null, 0, "m", Bytes.EMPTY, List.of(), 1, 1000, null, null);
    }

    private static OperationEnded ended(String id, OperationKind kind, OperationState state, long bytes) {
        return new OperationEnded(ENVELOPE, id, kind, state, OperationReason.COMPLETED, 1, 0, bytes);
    }
}
