/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.schemas.Bytes;

/** Keys at which scans over rows begin. Static and without state. */
final class ScanKeys {
    /** The lowest digest of a namespace. */
    static final Bytes FIRST_DIGEST = Bytes.wrapUnshared(new byte[Namespaces.DIGEST_BYTES]);

    private ScanKeys() {}

    /** The first key of a node's marks. */
    static RowKey.Mark firstMark(String node) {
        return new RowKey.Mark(StateSnapshot.NODE + node, FIRST_DIGEST, Bytes.EMPTY);
    }

    /** The key after that of a mark. */
    static RowKey.Mark after(RowKey.Mark key) {
        byte[] longer = new byte[key.block().size() + 1];
        System.arraycopy(key.block().unshared(), 0, longer, 0, key.block().size());
        return new RowKey.Mark(key.aggregate(), key.namespace(), Bytes.wrapUnshared(longer));
    }
}
