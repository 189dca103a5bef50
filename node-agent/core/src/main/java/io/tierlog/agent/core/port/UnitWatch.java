/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

/** Sees which operation a unit of work belongs to, for a shell that measures. Calls return at once. */
@FunctionalInterface
public interface UnitWatch {
    /** Sees nothing. */
    UnitWatch NONE = (operation, unit, blocks) -> {};

    /** The core gives {@code unit}, of {@code blocks} blocks, to a port; its completion names it again. */
    void begun(String operation, long unit, int blocks);
}
