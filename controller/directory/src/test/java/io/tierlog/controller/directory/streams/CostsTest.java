/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Tier;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Costs are the policy's, and any that a policy may have can be given. */
class CostsTest {
    @Test
    void theDefaultsAreThoseThatNodesGoBy() {
        PeerPolicy policy = Policies.fetch(Policies.INITIAL).peers();
        assertEquals(List.of(policy.hostBlockMicros(), policy.diskBlockMicros(), policy.storeBlockMicros()),
                List.of(Costs.DEFAULTS.elsewhere(Tier.HOST), Costs.DEFAULTS.elsewhere(Tier.DISK), Costs.DEFAULTS.elsewhere(Tier.STORE)));
        assertEquals(List.of(0L, 0L), List.of(Costs.DEFAULTS.own(Tier.HOST), Costs.DEFAULTS.own(Tier.DEVICE)));
    }

    @Test
    void storeAndOthersMayStandInAnyOrder() {
        for (long store : List.of(1L, 500L, 5_000L)) {
            for (long disk : List.of(0L, 2L, (long) Integer.MAX_VALUE)) {
                Costs costs = new Costs(0, 700, store, 1_000, disk);
                assertEquals(List.of(store, 1_000L, disk, 700L),
                        List.of(costs.elsewhere(Tier.STORE), costs.elsewhere(Tier.HOST), costs.elsewhere(Tier.DISK), costs.own(Tier.DISK)));
            }
        }
    }

    @Test
    void invalidCostsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Costs(5, 4, 9, 9, 9));
        assertThrows(IllegalArgumentException.class, () -> new Costs(0, 1, 9, -1, 9));
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> new Costs(0, 1, 1L << 31, 9, 9)).getMessage());
        assertTrue(message.contains("2147483648"), message);
    }
}
