/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.schemas.Sha256;
import java.util.HexFormat;

/**
 * Which engine instance a topic is about.
 *
 * @param name of the instance; empty when the topic names none
 * @param model of the topic; empty when it names none
 * @param shared whether it is a pool that engines share
 */
public record InstanceName(String name, String model, boolean shared) {
    /** How the names of all nodes begin that stand for engines which a bridge listens to. */
    public static final String FOREIGN = "ext-";

    private static final int LONGEST_NODE = 64;
    private static final int HASH_CHARACTERS = 8;
    private static final String POOL = "pool:";

    /** Takes {@code kv@POD@MODEL} apart; any other topic names nothing. */
    public static InstanceName of(String topic) {
        String[] parts = topic.split("@", 3);
        if (parts.length < 3 || !parts[0].equals("kv")) {
            return new InstanceName("", "", false);
        }
        boolean shared = parts[1].startsWith(POOL);
        return new InstanceName(parts[1], parts[2], shared);
    }

    /** The name of the node that stands for a rank of an instance: 1 to 64 letters, digits, dots, dashes, underscores. */
    public static String node(String instance, int rank) {
        String whole = FOREIGN + instance.replaceAll("[^A-Za-z0-9._-]", "-") + "-dp" + rank;
        if (whole.length() <= LONGEST_NODE) {
            return whole;
        }
        String hash = HexFormat.of().formatHex(Sha256.of(instance + "-dp" + rank));
        return whole.substring(0, LONGEST_NODE - HASH_CHARACTERS - 1) + "-" + hash.substring(0, HASH_CHARACTERS);
    }
}
