/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.engine.Hits;
import io.tierlog.ops.engine.Progress;
import org.junit.jupiter.api.Test;

class EngineProgressTest {
    private final EngineProgress progress = new EngineProgress();

    @Test
    void theLineIsJson() {
        assertEquals("{\"event\":\"progress\",\"requests_done\":3,\"requests_total\":9}", EngineProgress.line(at(3, 9)));
    }

    /** 100 of 400 are 0.25. */
    @Test
    void aShareIsReachedWhenSoManyRequestsHaveEnded() {
        assertTrue(progress.take(EngineProgress.line(at(99, 400))));
        assertFalse(progress.reached(0.25));

        assertTrue(progress.take(EngineProgress.line(at(100, 400))));
        assertTrue(progress.reached(0.25));
        assertFalse(progress.reached(0.26));
        assertFalse(progress.over());
    }

    @Test
    void theRunIsOverWhenAllHaveEnded() {
        progress.take(EngineProgress.line(at(399, 400)));
        assertFalse(progress.over());

        progress.take(EngineProgress.line(at(400, 400)));
        assertTrue(progress.over());
    }

    @Test
    void nothingIsReachedBeforeTheEnginesSpeak() {
        assertFalse(progress.reached(0.001));
        assertFalse(progress.over());
    }

    /** The report, as text and as JSON, and what only looks like progress. */
    @Test
    void otherLinesAreLeftToOthers() {
        assertFalse(progress.take("Requests  400"));
        assertFalse(progress.take("{\"requests\":400,\"hits\":{}}"));
        assertFalse(progress.take("{\"event\":\"ready\",\"port\":1}"));
        assertFalse(progress.take("{\"event\":\"ready\",\"requests_done\":3,\"requests_total\":3}"));
        assertFalse(progress.take("{\"event\":\"progress\",\"requests_done\":3}"));
        assertFalse(progress.take("{\"event\":\"progress\",\"requests_total\":3}"));
        assertFalse(progress.take("{no JSON"));
        assertFalse(progress.reached(0.001));
    }

    private static Progress at(int done, int total) {
        return new Progress(done, total, 1, new Hits(0, 0, 0, 0), 0, 0, 0, 0);
    }
}
