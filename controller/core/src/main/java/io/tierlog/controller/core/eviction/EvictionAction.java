/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.eviction;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;

/**
 * How a block leaves a tier.
 *
 * @param kind COPY or DROP
 * @param other tier that a COPY goes to, or that a DROP relies on; UNKNOWN when it relies on none
 */
public record EvictionAction(OperationKind kind, Tier other) {
    public static EvictionAction copy(Tier target) {
        return new EvictionAction(OperationKind.COPY, target);
    }

    public static EvictionAction drop(Tier reliesOn) {
        return new EvictionAction(OperationKind.DROP, reliesOn);
    }

    public boolean isCopy() {
        return kind == OperationKind.COPY;
    }
}
