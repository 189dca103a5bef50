/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.events.KafkaAccess;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class AgentConfigTest {
    private static AgentConfig.Builder config() {
        return AgentConfig.of("a", KafkaAccess.of("none:1"), Path.of("store")).with();
    }

    /** What the door lets in the core must take, and the other way round: 4,096 blocks, on record. */
    @Test
    void doorAndCoreHaveOneLimitOfBlocks() {
        assertEquals("4096", config().build().effective().get("keys.per.request"));

        AgentLimits.Bounds usual = AgentLimits.defaults().bounds();
        for (int keys : new int[] {4_095, 4_097}) {
            AgentLimits other = AgentLimits.defaults()
                    .with(new AgentLimits.Bounds(usual.requests(), usual.waiting(), usual.operations(), keys, usual.journal()));
            String why = String.valueOf(assertThrows(IllegalArgumentException.class, () -> config().limits(other)).getMessage());
            assertTrue(why.contains("4096") && why.contains(String.valueOf(keys)) && why.contains("blocksPerCall"), why);
        }
    }
}
