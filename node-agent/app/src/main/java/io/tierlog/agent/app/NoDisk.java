/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.core.port.DiskTransfers;
import java.util.List;

/** The disk of a node that has none: the core of such a node asks nothing of it, so a call is a bug. */
final class NoDisk implements DiskTransfers {
    @Override
    public void write(long unit, String namespace, List<PageWrite> blocks) {
        throw none();
    }

    @Override
    public void read(long unit, String namespace, List<PageRead> blocks) {
        throw none();
    }

    @Override
    public void drop(long unit, String namespace, List<DiskObject> blocks) {
        throw none();
    }

    private static IllegalStateException none() {
        return new IllegalStateException("this node has no disk tier");
    }
}
