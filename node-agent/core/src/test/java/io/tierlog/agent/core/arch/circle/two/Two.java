/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.arch.circle.two;

import io.tierlog.agent.core.arch.circle.one.One;

/** Half of a deliberate cycle between two packages. */
public record Two(java.util.Optional<One> other) {
    /** Depends on the other half. */
    public static int size(One other) {
        return other.hashCode();
    }
}
