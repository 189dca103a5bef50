/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.schemas.Bytes;
import java.util.HexFormat;

/** What rows of marks and their timers mean. Without state. */
public final class MarkRows {
    private MarkRows() {}

    /** End of a mark that has expired while an operation writes by it. */
    public static final long OVER = 0;

    private static final HexFormat HEX = HexFormat.of();

    /** Name of a mark or a promotion in timers: digest and key in hexadecimal. */
    public static String timerId(RowKey.Mark key) {
        return HEX.formatHex(key.namespace().unshared()) + HEX.formatHex(key.block().unshared());
    }

    /** The mark or promotion that a timer is for. */
    public static RowKey.Mark ofTimer(String aggregate, String id) {
        int digest = Namespaces.DIGEST_BYTES * 2;
        return new RowKey.Mark(aggregate, Bytes.wrapUnshared(HEX.parseHex(id, 0, digest)), Bytes.wrapUnshared(HEX.parseHex(id, digest, id.length())));
    }
}
