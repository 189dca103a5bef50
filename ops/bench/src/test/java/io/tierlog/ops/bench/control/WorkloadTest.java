/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.tierlog.events.Partitions;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class WorkloadTest {
    @Test
    void everyPromptIsUniqueAndWhollyReusable() {
        Workload workload = new Workload(24);

        Set<Bytes> keys = new HashSet<>();
        for (long number = 1; number <= 100; number++) {
            keys.addAll(workload.submitted(number, 24).keys());
        }

        assertEquals(2_400, keys.size());
        RequestSubmitted submitted = workload.submitted(7, 24);
        assertEquals(24, (submitted.promptTokens() - 1) / submitted.blockTokens());
        assertEquals(submitted, workload.submitted(7, 24));
    }

    @Test
    void aRequestIdCarriesItsNumber() {
        assertEquals(4_711, Workload.number(Workload.request(4_711)));
        assertEquals(-1, Workload.number("request-1"));
        assertEquals(-1, Workload.number("r"));
        assertNotEquals(Workload.request(1), Workload.request(2));
    }

    @Test
    void nodesAreSpreadEvenly() {
        List<String> nodes = Workload.nodes(6, 3);

        List<Integer> partitions = nodes.stream().map(node -> Partitions.of(Workload.aggregate(node), 3)).toList();
        assertEquals(List.of(0, 1, 2, 0, 1, 2), partitions);
    }
}
