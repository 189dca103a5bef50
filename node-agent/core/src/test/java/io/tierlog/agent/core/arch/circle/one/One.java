/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.arch.circle.one;

import io.tierlog.agent.core.arch.circle.two.Two;

/** Half of a deliberate cycle between two packages. */
public record One(java.util.Optional<Two> other) {
    /** Depends on the other half. */
    public static int size(Two other) {
        return other.hashCode();
    }
}
