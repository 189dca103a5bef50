/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.controller.http.Problem;
import io.tierlog.ops.dashboard.streams.FoldTasks;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Pages of a log that is not read yet. */
class PagesTest {
    private static final PageQuery NODE = new PageQuery("node", 15, "a", new RequestFilter("", "", 0, false), 0);

    private static Problem refusal(String state) {
        Pages pages = new Pages(new FoldTasks(), () -> new LogPosition(state, Map.of(), 0, ""), () -> 0, false);
        return assertThrows(Problem.class, () -> pages.json(NODE));
    }

    @Test
    void aNodeIsUnknownOnlyWhenTheRowsAreRestored() {
        assertEquals("the rows of node 'a' are not restored yet: the reader of the log is rebalancing", refusal("REBALANCING").detail());
        assertEquals(Problem.Kind.NOT_READY, refusal("REBALANCING").kind());
        assertEquals(Problem.Kind.NODE_UNKNOWN, refusal("RUNNING").kind());
    }
}
