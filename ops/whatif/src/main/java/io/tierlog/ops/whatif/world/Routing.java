/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import java.util.Locale;

/** How requests are spread over nodes. */
public enum Routing {
    /** One node after the other. */
    ROUND_ROBIN,
    /** The requests of a conversation to one node, as long as it has not much more to do than another. */
    STICKY,
    /** To the node that has the longest beginning of the prompt by the directory, as long as it has not much more to do than another. */
    PREFIX,
    /** As they went in the log. */
    RECORDED;

    /** The name that people type. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
