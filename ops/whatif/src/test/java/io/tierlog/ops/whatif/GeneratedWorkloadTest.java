/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.ops.engine.workload.Request;
import java.util.List;
import org.junit.jupiter.api.Test;

class GeneratedWorkloadTest {
    /** Two whole blocks and a half: 1,280 tokens. One block is generated: 257 more fill the half and one, and the last is not computed. */
    @Test
    void promptsBecomeRequests() {
        GeneratedWorkload workload = new GeneratedWorkload(Prompts.of("two", List.of(
                new Prompts.Prompt(5, new long[] {1, 2, 3}, 2, new long[] {4}), new Prompts.Prompt(6, new long[] {1, 2}, 2, new long[0]))));

        Request first = workload.request(0);
        assertEquals(new Request.Shape(1_280, 257, 512), first.shape());
        assertEquals(3, first.shape().sealedBlocks());
        assertEquals(5, first.arrivalMs());
        assertEquals(new Request.Shape(1_024, 1, 512), workload.request(1).shape());
        assertEquals(first.promptKeys().subList(0, 2), workload.request(1).promptKeys());
    }

    /** All requests of all generated workloads are well formed: their shapes fit their keys. */
    @Test
    void allWorkloadsCanBeReplayed() {
        for (Generated generated : Generated.values()) {
            GeneratedWorkload workload = new GeneratedWorkload(generated.make(1));
            for (int i = 0; i < workload.size(); i++) {
                Request request = workload.request(i);
                assertEquals(request.shape().promptBlocks(), request.accesses(), generated.text());
            }
        }
    }
}
