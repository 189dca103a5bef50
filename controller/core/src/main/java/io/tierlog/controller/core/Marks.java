/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.state.MarkRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** When a block is next written, it goes where its mark says. Without state. */
final class Marks {
    private Marks() {}

    /** The mark of a block; null when it has none, when its time is over, or when its group has no route that marks. */
    static @Nullable MarkRow of(NodeDraft n, String namespace, Bytes key) {
        return null;
    }

    /** Marks blocks, or refreshes their marks. {@code timeoutMs} null for what policy says. */
    static void add(NodeDraft n, Tier target, String namespace, List<Bytes> keys, MigrationMethod fallbackFrom, @Nullable Long timeoutMs,
            MoveCause move) {}

    /** Clears the marks of blocks that a copy has brought where the mark says. */
    static void copied(NodeDraft n, Tier target, String namespace, List<Bytes> keys) {}

    /** A timer of a mark is due; {@code id} is as {@link EvolveMarks} has set it. */
    static void expired(NodeDraft n, String id) {}

    static void clear(NodeDraft n, MarksClearRequested e) {}
}
