/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import java.util.List;
import java.util.Objects;

/**
 * The beginning of a workload.
 *
 * @param whole what it is the beginning of
 * @param size requests of it; 1 to those of the whole
 */
record FirstRequests(Workload whole, int size) implements Workload {
    FirstRequests {
        Objects.checkIndex(size - 1, whole.size());
    }

    @Override
    public String name() {
        return whole.name() + ", the first " + size;
    }

    @Override
    public int blockTokens() {
        return whole.blockTokens();
    }

    @Override
    public List<String> tenants() {
        return whole.tenants();
    }

    @Override
    public Request request(int index) {
        return whole.request(Objects.checkIndex(index, size));
    }
}
