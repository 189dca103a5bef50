/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

/** Names of aggregates and of senders. */
final class Aggregates {
    static final String NODE = "node/";
    static final String STORE = "store/";
    static final String POLICY = "policy";
    static final String MIGRATION = "migration/";

    private static final String CLOCK = "clock/";
    private static final String CONTROLLER = "controller/";

    private Aggregates() {}

    static String clock(int partition) {
        return CLOCK + partition;
    }

    static String controller(int partition) {
        return CONTROLLER + partition;
    }

    /** The clock of the partition whose controller {@code sender} is. */
    static String clockOf(String sender) {
        if (!sender.startsWith(CONTROLLER)) {
            throw new IllegalHistory("A fact comes from " + sender + " and not from a controller");
        }
        return CLOCK + sender.substring(CONTROLLER.length());
    }

    static boolean isNode(String aggregate) {
        return aggregate.length() > NODE.length() && aggregate.startsWith(NODE);
    }

    static boolean isMigration(String aggregate) {
        return aggregate.length() > MIGRATION.length() && aggregate.startsWith(MIGRATION);
    }

    static boolean isStore(String aggregate) {
        return aggregate.length() > STORE.length() && aggregate.startsWith(STORE);
    }
}
