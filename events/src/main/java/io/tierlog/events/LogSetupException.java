/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.tls.TlsFault;
import java.util.List;
import javax.net.ssl.SSLException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.SslAuthenticationException;

/**
 * The log is not there, or not as it must be: nothing can start. The message says what to do; trying again without doing it does not help,
 * except when the broker was only slow.
 */
public abstract sealed class LogSetupException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private LogSetupException(String message) {
        super(message);
    }

    /**
     * What a client of Kafka failed with when it asked for {@code what}, in words that say what to do.
     *
     * @param cause as Kafka's future or call threw it, without the wrapper of the future
     */
    public static LogSetupException of(KafkaAccess access, String what, Throwable cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof AuthenticationException) {
                return new NotAuthenticated(access, each);
            }
            if (each instanceof AuthorizationException) {
                return new Refused(what, each);
            }
        }
        return new Refused(what, cause);
    }

    /** No broker answered in time. */
    public static final class BrokerUnreachable extends LogSetupException {
        private static final long serialVersionUID = 1L;

        BrokerUnreachable(KafkaAccess access, Throwable cause) {
            super("no Kafka broker answered at " + access.bootstrapServers() + " within " + access.timeout().toMillis() + " ms"
                    + (cause.getMessage() == null ? "" : ": " + cause.getMessage())
                    + "; check --bootstrap-servers, or start one with 'tierlog broker'"
                    + (access.properties().containsKey("security.protocol") ? ""
                            : "; if the brokers want TLS or a password, set security.protocol in the file of --client-config"));
            initCause(cause);
        }
    }

    /** The client properties cannot be used; no broker was asked. */
    public static final class BadClientConfig extends LogSetupException {
        private static final long serialVersionUID = 1L;

        BadClientConfig(Throwable cause) {
            super("the Kafka client properties cannot be used: " + innermost(cause) + "; correct the file of --client-config");
            initCause(cause);
        }
    }

    /** Brokers and this process do not accept each other: a certificate, a user or a password. */
    public static final class NotAuthenticated extends LogSetupException {
        private static final long serialVersionUID = 1L;

        NotAuthenticated(KafkaAccess access, Throwable cause) {
            super(cause instanceof SslAuthenticationException ? tls(access, cause) : "the brokers at " + access.bootstrapServers()
                    + " refuse the user or the password: " + cause.getMessage()
                    + "; check sasl.mechanism and sasl.jaas.config in the file of --client-config");
            initCause(cause);
        }

        private static String tls(KafkaAccess access, Throwable failure) {
            String servers = access.bootstrapServers();
            String reason = innermost(failure);
            return switch (TlsFault.of(failure).orElse(TlsFault.OTHER)) {
                case EXPIRED -> "the certificate of the brokers at " + servers + " has expired (" + reason + "); give the brokers a new one";
                case OTHER_HOST -> "the certificate of the brokers at " + servers + " is for another host name (" + reason + "); use a name of the"
                        + " certificate in --bootstrap-servers and advertised.listeners, or give the brokers a certificate for this name";
                case UNKNOWN_AUTHORITY -> "the certificate of the brokers at " + servers + " is not signed by an authority that this process trusts;"
                        + " name their authority with ssl.truststore.location in the file of --client-config";
                case REFUSED -> "the brokers at " + servers + " refuse the certificate of this process (" + reason + "); give one that is signed by"
                        + " an authority that the brokers trust and has not expired, with ssl.keystore.location in the file of --client-config";
                case NO_TLS -> "the brokers at " + servers + " do not speak TLS at this port; use their TLS port, or correct security.protocol in the"
                        + " file of --client-config";
                case OTHER -> "no TLS connection with the brokers at " + servers + ": " + reason
                        + "; check the ssl.* lines of the file of --client-config";
            };
        }
    }

    /** The principal of this process may not do all that its part does. */
    public static final class AclsMissing extends LogSetupException {
        private static final long serialVersionUID = 1L;

        /**
         * With the commands that make them.
         *
         * @param missing as "WRITE on topic NAME"
         * @param roles of the part, as {@code tierlog acls apply --principal} names them
         */
        public AclsMissing(List<String> missing, List<String> roles) {
            super("the Kafka principal of this process lacks " + String.join(", ", missing)
                    + "; make these ACLs as an administrator: tierlog acls apply"
                    + String.join("", roles.stream().map(role -> " --principal " + role + "=User:NAME").toList()));
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

    private static String innermost(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && !(cause instanceof ConfigException) && !(cause instanceof SSLException)) {
            cause = cause.getCause();
        }
        return Causes.of(cause);
    }
}
