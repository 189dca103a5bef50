/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

/**
 * A block named whole within a workload: equal keys of different tenants are different blocks.
 *
 * @param tenant index into {@link Workload#tenants()}
 */
public record BlockId(int tenant, BlockKey key) {
    @Override
    public int hashCode() {
        // Keys are well mixed already; the generic record hash would be slower and no better.
        return Long.hashCode(key.high() + tenant * 0x9E37_79B9_7F4A_7C15L);
    }
}
