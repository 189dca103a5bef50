/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.schemas.RequestState;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class RequestStatesTest {
    /** All 81 pairs. */
    @Test
    void whatFollowsIsTheTableOfTheDesign() {
        Map<RequestState, String> next = new TreeMap<>();
        for (RequestState from : RequestState.values()) {
            next.put(from, Arrays.stream(RequestState.values()).filter(to -> RequestStates.isLegal(from, to)).map(RequestState::name).sorted()
                    .collect(Collectors.joining(" ")));
        }
        assertEquals(Map.of(
                RequestState.SUBMITTED, "CANCELLED PREFETCHING PREFILLING REJECTED",
                RequestState.PREFETCHING, "CANCELLED PREFETCH_DONE PREFILLING REJECTED",
                RequestState.PREFETCH_DONE, "CANCELLED PREFILLING REJECTED",
                RequestState.PREFILLING, "CANCELLED DECODING FINISHED REJECTED",
                RequestState.DECODING, "CANCELLED FINISHED REJECTED",
                RequestState.FINISHED, "",
                RequestState.CANCELLED, "",
                RequestState.REJECTED, "",
                RequestState.UNKNOWN, ""), next);
        for (RequestState state : RequestState.values()) {
            assertEquals("".equals(next.get(state)), RequestStates.isEnd(state), state::name);
        }
    }
}
