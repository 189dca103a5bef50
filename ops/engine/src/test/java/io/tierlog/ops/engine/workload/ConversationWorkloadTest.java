/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConversationWorkloadTest {
    private static final ConversationParameters SMALL = ConversationParameters.defaults().withRequests(1_500);

    private static List<Request> requests(ConversationParameters parameters) {
        Workload workload = ConversationWorkload.of(parameters);
        return IntStream.range(0, workload.size()).mapToObj(workload::request).toList();
    }

    @Test
    void theSeedDecidesEverything() {
        assertEquals(requests(SMALL), requests(SMALL));
        assertNotEquals(requests(SMALL), requests(SMALL.withSeed(43)));
    }

    @Test
    void aShorterRunIsTheBeginningOfALongerOne() {
        assertEquals(requests(SMALL.withRequests(200)), requests(SMALL).subList(0, 200));
    }

    @Test
    void itsBeginningIsAWorkload() {
        Workload whole = ConversationWorkload.of(SMALL);
        Workload first = whole.first(200);
        assertEquals(requests(SMALL).subList(0, 200), IntStream.range(0, first.size()).mapToObj(first::request).toList());
        assertThrows(IndexOutOfBoundsException.class, () -> first.request(200));
        assertEquals(1_500, whole.first(2_000).size());
        assertThrows(IndexOutOfBoundsException.class, () -> whole.first(0));
    }

    /** Every block has one index and one block before it, prompts and generated blocks together: the keys are a chain. */
    @Test
    void keysAreChained() {
        Map<BlockKey, String> places = new HashMap<>();
        for (Request request : requests(SMALL)) {
            String parent = "";
            int index = 0;
            for (BlockKey key : request.promptKeys()) {
                String place = index++ + " after " + parent;
                assertEquals(place, places.computeIfAbsent(key, k -> place));
                parent = key.toString();
            }
        }
    }

    @Test
    void laterTurnsFindWhatEarlierOnesGenerated() {
        List<Request> requests = requests(SMALL);
        int continued = 0;
        int generatedFound = 0;
        int retries = 0;
        for (Request request : requests) {
            if (request.predecessor() == Request.NO_PREDECESSOR) {
                continue;
            }
            Request before = requests.get(request.predecessor());
            assertTrue(before.arrivalMs() < request.arrivalMs());
            assertEquals(before.tenant(), request.tenant());
            continued++;
            if (request.promptKeys().equals(before.promptKeys())) {
                retries++;
            } else {
                Set<BlockKey> prompt = new HashSet<>(request.wholeKeys());
                assertTrue(prompt.containsAll(before.wholeKeys()));
                assertTrue(prompt.containsAll(before.generatedKeys()), () -> request + " does not hold the answer of " + before);
                generatedFound += before.generatedKeys().size();
            }
        }
        assertTrue(continued > 500 && generatedFound > 1_000 && retries > 10, continued + " " + generatedFound + " " + retries);
    }

    @Test
    void thereIsEverythingTheDemoShows() {
        List<Request> requests = requests(SMALL);
        assertTrue(requests.stream().anyMatch(request -> !request.reuseEligible()));
        assertEquals(2, requests.stream().map(Request::tenant).distinct().count());
        // The same system prompt has the same keys for both tenants.
        Set<BlockKey> first = new HashSet<>();
        Set<BlockKey> second = new HashSet<>();
        requests.forEach(request -> (request.tenant() == 0 ? first : second).add(request.promptKeys().getFirst()));
        first.retainAll(second);
        assertTrue(first.size() > 5);
    }

    /** The sizes that the demo's shares are shares of; a change here changes what the demo shows. */
    @Test
    void theDefaultsHaveTheseNumbers() {
        WorkloadProfile profile = WorkloadProfile.of(ConversationWorkload.of(ConversationParameters.defaults()));
        assertEquals(6_000, profile.requests());
        assertEquals(71_590, profile.blockAccesses());
        assertEquals(37_618, profile.uniqueBlocks());
        assertEquals(49_376, profile.idealHits());
        assertEquals(48_541, profile.reusableHits());
        assertEquals(29, profile.maxPages());
    }
}
