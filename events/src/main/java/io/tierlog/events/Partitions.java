/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Utils;

/**
 * Which partition an aggregate's records are in, the same in every topic of the log. Static and without state.
 *
 * <p>It is Kafka's own default for keyed records (murmur2 of the key), so that producers in any language agree without trying; only
 * {@code clock/N} names its partition itself. Trade-off: the number of partitions is fixed when the log is made.
 */
public final class Partitions {
    private static final String CLOCK = "clock/";

    private Partitions() {}

    /** The aggregate that stands for partition {@code partition} itself. */
    public static String clock(int partition) {
        return CLOCK + partition;
    }

    /** The key of the records of an aggregate. */
    public static byte[] key(String aggregate) {
        return aggregate.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The partition of an aggregate, 0 to partitions - 1.
     *
     * @throws IllegalArgumentException for a clock of a partition that does not exist
     */
    public static int of(String aggregate, int partitions) {
        if (!aggregate.startsWith(CLOCK)) {
            return ofKey(key(aggregate), partitions);
        }
        String number = aggregate.substring(CLOCK.length());
        for (int i = 0; i < number.length(); i++) {
            if (number.charAt(i) < '0' || number.charAt(i) > '9') {
                throw new IllegalArgumentException("'" + aggregate + "' names no partition");
            }
        }
        // Nine digits fit an int; more name no partition of Kafka's.
        int partition = number.isEmpty() || number.length() > 9 ? partitions : Integer.parseInt(number);
        if (partition >= partitions || !number.equals(Integer.toString(partition))) {
            throw new IllegalArgumentException("'" + aggregate + "' names none of the partitions 0 to " + (partitions - 1));
        }
        return partition;
    }

    /** The partition Kafka's default partitioner gives a record with this key. */
    public static int ofKey(byte[] key, int partitions) {
        return Utils.toPositive(Utils.murmur2(key)) % partitions;
    }
}
