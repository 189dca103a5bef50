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
    private static final String AGENT = "agent/";

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

    /** Whether {@code sender} is the process of an agent of the node. */
    public static boolean isAgent(String sender, String node, String process) {
        int slash = AGENT.length() + node.length();
        return sender.length() == slash + 1 + process.length() && sender.startsWith(AGENT) && sender.startsWith(node, AGENT.length())
                && sender.charAt(slash) == '/' && sender.endsWith(process);
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
