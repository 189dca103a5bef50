/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

/** What is known of the publishers behind an address, for metrics. */
public interface Followed {
    /** Publishers with at least one batch, count. */
    int publishers();

    /** Publishers of which something is unknown, count. */
    int unknown();

    /** Blocks of all publishers, count. */
    long blocks();
}
