/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.ops.engine.workload.Workload;

/** A workload whose requests went to nodes already. */
public interface RoutedWorkload extends Workload {
    /** Number of nodes. */
    int nodes();

    /** The node of request {@code index}, from 0. */
    int node(int index);
}
