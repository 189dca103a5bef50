/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tierlog.controller.core.policy.Policies;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.WritePolicy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The policy of a world, and of a step, is the policy document, on top of what holds without it. */
class WorldPolicyTest {
    private static final String ROUTE =
            "{\"source\":\"host\",\"target\":\"disk\",\"threshold\":0.5,\"methods\":[\"copy\"],\"retention\":\"keep_both\","
                    + "\"bytes_in_flight\":\"1KiB\"}";
    private static final String WORLD = "{\"world\":{\"prefetch_threshold\":4,\"policy\":{\"throttle\":{\"migrations\":3},"
            + "\"marks\":{\"timeout\":\"1ms\"},"
            + "\"groups\":[{\"name\":\"gold\",\"namespaces\":[\"m*\"],\"quota\":1000,\"routes\":[" + ROUTE + "]}]}}}";

    private static Policy policy(String... lines) {
        ScenarioFile file = ScenarioFile.parse(List.of(lines));
        return file.steps().isEmpty() ? file.world().policy() : ((Step.SetPolicy) file.steps().getLast()).policy();
    }

    @Test
    void everyFieldArrivesOnTopOfTheWorldsDefaults() {
        Policy policy = policy(WORLD);
        assertEquals(List.of(4, 0.0, 600_000L), List.of(policy.prefetchThresholdBlocks(), policy.hostHighMark(), policy.leaseMs()));
        GroupPolicy gold = Policies.migration(policy).groups().getFirst();
        assertEquals(List.of(1L, 3, 1_000L, 3, 1_024L), List.of(
                Policies.migration(policy).markTimeoutMs(), Policies.migration(policy).migrationsInFlight(),
                gold.quotaBytes() == null ? -1L : gold.quotaBytes(),
                gold.routes().getFirst().concurrency(), gold.routes().getFirst().bytesInFlight()));
    }

    @Test
    void aStepChangesWhatItSays() {
        Policy before = policy(WORLD);
        Policy after = policy(WORLD, "{\"do\":\"policy\",\"policy\":{\"write_policy\":\"write_through\",\"throttle\":{\"migrations\":5}}}");
        assertEquals(WritePolicy.WRITE_THROUGH, after.writePolicy());
        assertEquals(List.of(4, 5), List.of(after.prefetchThresholdBlocks(), Policies.migration(after).migrationsInFlight()));
        assertEquals(Policies.migration(before).groups(), Policies.migration(after).groups());
        assertEquals(List.of(), Policies.migration(policy(WORLD, "{\"do\":\"policy\",\"policy\":{\"groups\":[]}}")).groups());
    }

    @Test
    void theDefaultsThatArePrintedAreThoseThatHold() {
        Policy plain = policy("{\"world\":{}}");
        assertNull(plain.migration());
        assertEquals(PolicyDocument.fields(plain), PolicyDocument.fields(policy(WorldSpec.defaults().toString())));
    }
}
