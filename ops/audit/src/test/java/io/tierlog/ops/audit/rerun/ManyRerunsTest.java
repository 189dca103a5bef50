/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.rerun;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** As {@link SimulatedRerunTest}, with 40 more episodes; with {@code -Dtierlog.reruns=500} with so many. */
@Tag("slow")
class ManyRerunsTest {
    private static final int SEEDS = 4;
    private static final int EACH = Integer.getInteger("tierlog.reruns", 40) / SEEDS;

    @ParameterizedTest
    @ValueSource(longs = {1_000, 2_000, 3_000, 4_000})
    void simulatedLogsAreDecidedTheSame(long first) {
        SimulatedRerunTest.assertSame(first, EACH);
    }
}
