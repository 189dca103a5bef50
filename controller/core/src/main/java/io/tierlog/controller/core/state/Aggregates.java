/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.controller.core.api.IllegalHistory;

/** Names of aggregates and of senders. */
public final class Aggregates {
    public static final String NODE = "node/";
    static final String STORE = "store/";
    public static final String POLICY = "policy";
    public static final String MIGRATION = "migration/";

    private static final String CLOCK = "clock/";
    private static final String CONTROLLER = "controller/";

    private Aggregates() {}

    public static String clock(int partition) {
        return CLOCK + partition;
    }

    public static String controller(int partition) {
        return CONTROLLER + partition;
    }

    /** The clock of the partition whose controller {@code sender} is. */
    public static String clockOf(String sender) {
        if (!sender.startsWith(CONTROLLER)) {
            throw new IllegalHistory("A fact comes from " + sender + " and not from a controller");
        }
        return CLOCK + sender.substring(CONTROLLER.length());
    }

    public static boolean isNode(String aggregate) {
        return aggregate.length() > NODE.length() && aggregate.startsWith(NODE);
    }

    public static boolean isMigration(String aggregate) {
        return aggregate.length() > MIGRATION.length() && aggregate.startsWith(MIGRATION);
    }

    public static boolean isStore(String aggregate) {
        return aggregate.length() > STORE.length() && aggregate.startsWith(STORE);
    }
}
