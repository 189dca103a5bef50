/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import io.tierlog.ops.dashboard.model.RequestRow;

/**
 * Which requests are shown.
 *
 * @param node part of the node's name; empty for all
 * @param namespace part of the namespace, such as a tenant; empty for all
 * @param slowMs those that waited at least that long; 0 for all
 * @param computed only those that computed blocks
 */
record RequestFilter(String node, String namespace, int slowMs, boolean computed) {
    boolean lets(RequestRow row) {
        return row.node().contains(node) && row.namespace().contains(namespace)
                && (slowMs == 0 || row.readyMs() - row.submittedMs() >= slowMs)
                && (!computed || row.hits().computed() > 0);
    }
}
