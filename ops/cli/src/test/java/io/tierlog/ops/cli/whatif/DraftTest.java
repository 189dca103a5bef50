/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.tierlog.controller.core.api.Limits;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.ops.policy.Reading;
import io.tierlog.ops.whatif.world.WhatIfPlan;
import io.tierlog.schemas.Policy;
import org.junit.jupiter.api.Test;

class DraftTest {
    private static final ClusterFlags.Defaults NEW = ClusterFlags.Defaults.NEW;
    private static final String GROUP = "groups: [{name: g, namespaces: [\"*/a\"], tiers: {host: {quota: 6MiB, order: gaps}}}]\n";

    /** Of host and disk; a capacity stays, and a group keeps the order of its own. */
    @Test
    void anEvictionOrderIsThatOfTheTiers() {
        Draft draft = new Draft(
                policy(GROUP + "tiers: {disk: {capacity: 1GiB}}"), NEW.tiers(), NEW.routing(), new WhatIfPlan.Pace(1, 0), 200, NEW.model());

        assertEquals(
                policy(GROUP + "tiers: {host: {order: lru}, disk: {capacity: 1GiB, order: lru}}"),
                draft.with("--sweep", "eviction-order", "lru").policy());
    }

    private static Policy policy(String document) {
        return assertInstanceOf(Reading.Valid.class, PolicyDocument.read(document, NEW.policy(), Limits.DEFAULTS)).policy();
    }
}
