/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.engine.Progress;

/**
 * The progress of engines in another process. Engines count requests themselves, since requests that run while an agent is dead are not on the log.
 * This class writes and reads the line: {@code {"event":"progress","requests_done":3,"requests_total":9}}.
 *
 * <p>One thread takes lines; any thread may ask.
 */
final class EngineProgress {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String EVENT = "event";
    private static final String PROGRESS = "progress";
    private static final String DONE = "requests_done";
    private static final String TOTAL = "requests_total";

    private volatile Stand stand = new Stand(0, Integer.MAX_VALUE);

    /** Requests that have ended, and requests of the run. */
    private record Stand(int done, int total) {}

    /** The line for {@code progress}. */
    static String line(Progress progress) {
        return MAPPER.createObjectNode()
                .put(EVENT, PROGRESS)
                .put(DONE, progress.requestsDone())
                .put(TOTAL, progress.requestsTotal())
                .toString();
    }

    /** Reads a line of the engines' output; false when it is not a line of progress. */
    boolean take(String line) {
        if (!line.startsWith("{")) {
            return false;
        }
        try {
            JsonNode json = MAPPER.readTree(line);
            boolean mine = PROGRESS.equals(json.path(EVENT).asText()) && json.path(DONE).isInt() && json.path(TOTAL).isInt();
            if (mine) {
                stand = new Stand(json.path(DONE).asInt(), json.path(TOTAL).asInt());
            }
            return mine;
        } catch (JsonProcessingException e) {
            return false;
        }
    }

    /** Whether {@code share}, 0 to 1, of the requests has ended; false before the first line. */
    boolean reached(double share) {
        Stand now = stand;
        return now.done() >= share * now.total();
    }

    /** Whether all requests have ended. */
    boolean over() {
        return reached(1);
    }
}
