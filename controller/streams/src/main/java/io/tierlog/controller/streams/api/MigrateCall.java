/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;

/**
 * A migration request, of HTTP or gRPC.
 *
 * @param id the client's own
 * @param nodes names of the nodes; empty for all registered ones
 * @param order what to migrate, and how
 * @param patience how long the client waits for the answer
 */
record MigrateCall(String id, List<String> nodes, MigrationOrder order, Duration patience) {
    static final String ID = "[A-Za-z0-9._-]{1,128}";
    static final String ID_IS = "1 to 128 letters, digits, dots, dashes, underscores";
    static final String NODE = "[A-Za-z0-9._-]{1,64}";
    static final String NODE_IS = "the name of a node: 1 to 64 letters, digits, dots, dashes, underscores";
    static final int NAMESPACE = 1_024;
    static final int GROUP = 64;
    static final int SAMPLE_COUNT = 100;
    static final int LEAST_KEY = 8;
    static final int LONGEST_KEY = 32;

    /** How cold a tier is: blocks go to colder ones only. */
    static int coldness(Tier tier) {
        return switch (tier) {
            case UNKNOWN -> -1;
            case DEVICE -> 0;
            case HOST -> 1;
            case DISK -> 2;
            case STORE -> 3;
        };
    }

    /** Whether an existing migration has the same request. */
    boolean isSameAs(MigrationRow row) {
        TreeSet<String> asked = new TreeSet<>(nodes);
        List<String> has = row.parts().stream().map(PartRow::node).sorted().toList();
        return row.order().equals(order) && (nodes.isEmpty() || List.copyOf(asked).equals(has));
    }
}
