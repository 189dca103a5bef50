/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import java.util.List;
import org.apache.kafka.common.errors.AuthorizationException;

/**
 * The log is not there, or not as it must be: nothing can start. The message says what to do; trying again without doing it does not help,
 * except when the broker was only slow.
 */
public abstract sealed class LogSetupException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private LogSetupException(String message) {
        super(message);
    }

    /** No broker answered in time. */
    public static final class BrokerUnreachable extends LogSetupException {
        private static final long serialVersionUID = 1L;

        BrokerUnreachable(KafkaAccess access, Throwable cause) {
            super("no Kafka broker answered at " + access.bootstrapServers() + " within " + access.timeout().toMillis() + " ms"
                    + (cause.getMessage() == null ? "" : ": " + cause.getMessage())
                    + "; check --bootstrap-servers, or start one with 'tierlog broker'");
            initCause(cause);
        }
    }

    /** The cluster answered, and refused. */
    public static final class Refused extends LogSetupException {
        private static final long serialVersionUID = 1L;

        Refused(String what, Throwable cause) {
            super(what + " was refused by the cluster: " + cause.getMessage() + (cause instanceof AuthorizationException
                    ? "; its principal lacks an ACL: 'tierlog acls print' lists those of each role, 'tierlog acls apply' makes them" : ""));
            initCause(cause);
        }
    }

    /** Topics of the log do not exist. */
    public static final class TopicsMissing extends LogSetupException {
        private static final long serialVersionUID = 1L;

        TopicsMissing(List<String> names) {
            super("topics are missing: " + String.join(", ", names)
                    + "; restore them from a backup if they held a log, else make them with 'tierlog topics create'");
        }
    }

    /** A topic has another number of partitions than it must have. */
    public static final class PartitionsDiffer extends LogSetupException {
        private static final long serialVersionUID = 1L;

        PartitionsDiffer(String topic, int found, int wanted) {
            super("topic " + topic + " has " + found + " partitions, not " + wanted + "; their number is fixed when a log is made: use "
                    + found + ", or another --topic-prefix for a new log");
        }

        private PartitionsDiffer(String message) {
            super(message);
        }

        static PartitionsDiffer fromOthers(String topic, int found, int others) {
            return new PartitionsDiffer("topic " + topic + " has " + found + " partitions, and the other topics of the log have " + others
                    + "; make it again with " + others + " if it is empty, or use another --topic-prefix for a new log");
        }
    }

    /** The cluster's transactions are of the old protocol, which can lose or tear them. */
    public static final class TransactionsTooOld extends LogSetupException {
        private static final long serialVersionUID = 1L;

        TransactionsTooOld(int found, int needed) {
            super("the cluster runs transaction.version " + found + ", Tierlog needs " + needed
                    + "; upgrade it: kafka-features.sh --bootstrap-server HOST:PORT upgrade --feature transaction.version=" + needed);
        }
    }
}
