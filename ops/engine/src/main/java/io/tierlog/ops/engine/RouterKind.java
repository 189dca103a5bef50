/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

/** How requests are spread over the nodes. */
public enum RouterKind {
    /** Requests with the same beginning go to the same node, unless that one has had far more than another. */
    AFFINITY,
    /** One after the other. */
    ROUND_ROBIN
}
