/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.tierlog.schemas.Layout;
import java.util.List;

/**
 * What the buffers of an engine must be like.
 *
 * @param layouts what a block consists of; all replicated or none
 * @param ranks of the engine on this node, 1 or more
 */
public record AgreedLayouts(List<Layout> layouts, int ranks) {
    public AgreedLayouts {
        layouts = List.copyOf(layouts);
    }

    /** Whether every rank holds the same bytes. */
    boolean replicated() {
        return layouts.getFirst().replicated();
    }
}
