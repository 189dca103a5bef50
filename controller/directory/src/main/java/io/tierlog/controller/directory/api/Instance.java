/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What routers call a node.
 *
 * @param name the instance of an engine that a bridge listens to, else the node
 * @param rank data-parallel rank of such an engine
 */
record Instance(String name, OptionalInt rank) {
    private static final Pattern FOREIGN = Pattern.compile("ext-(.+)-dp(\\d{1,4})");

    static Instance of(String node) {
        Matcher foreign = FOREIGN.matcher(node);
        return foreign.matches()
                ? new Instance(foreign.group(1), OptionalInt.of(Integer.parseInt(foreign.group(2))))
                : new Instance(node, OptionalInt.empty());
    }

    /** Whether it is of an engine that a bridge listens to. */
    boolean isForeign() {
        return rank.isPresent();
    }
}
