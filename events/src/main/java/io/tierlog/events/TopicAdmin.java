/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.events.LogSetupException.BadClientConfig;
import io.tierlog.events.LogSetupException.BrokerUnreachable;
import io.tierlog.events.LogSetupException.PartitionsDiffer;
import io.tierlog.events.LogSetupException.TopicsMissing;
import io.tierlog.events.LogSetupException.TransactionsTooOld;
import io.tierlog.events.topic.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * Makes the topics of a log and checks that they are as they must be. Safe for use by several threads; each call blocks, at most for the
 * time-out of the {@link KafkaAccess} per request. It never changes a topic that exists.
 */
public final class TopicAdmin implements AutoCloseable {
    private static final String TRANSACTIONS = "transaction.version";
    private static final int NEEDED_TRANSACTIONS = 2;
    private static final int REPLICAS_FOR_TWO_IN_SYNC = 3;
    private static final int MAX_PARTITIONS = 1_024;
    private static final long PAUSE_NS = 20_000_000;

    private final KafkaAccess access;
    private final Admin admin;

    /**
     * Connects.
     *
     * @throws BrokerUnreachable when no broker answers in time
     */
    public TopicAdmin(KafkaAccess access) {
        this.access = access;
        int timeoutMs = Math.toIntExact(access.timeout().toMillis());
        try {
            admin = Admin.create(access.client(Map.of("default.api.timeout.ms", timeoutMs, "request.timeout.ms", timeoutMs)));
        } catch (KafkaException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            // Names that cannot be resolved are a ConfigException of this one option.
            throw String.valueOf(cause.getMessage()).contains("bootstrap") ? new BrokerUnreachable(access, cause) : new BadClientConfig(e);
        }
        try {
            get("the connection", admin.describeCluster().nodes());
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** What {@link #create} did, by topic name. */
    public record Created(List<String> made, List<String> found) {}

    /**
     * Makes those topics of the log that do not exist; calling it again is nothing.
     *
     * @param partitions of every topic, 1 to 1,024
     * @param replicationFactor 1 or more; from 3 on, two replicas must have a record before it counts
     * @throws LogSetupException when a topic exists with another number of partitions, or the cluster's transactions are too old;
     *     then nothing was made
     */
    public Created create(Topics topics, int partitions, int replicationFactor) {
        if (partitions < 1 || partitions > MAX_PARTITIONS) {
            throw new IllegalArgumentException("a log has 1 to " + MAX_PARTITIONS + " partitions, not " + partitions);
        }
        if (replicationFactor < 1 || replicationFactor > Short.MAX_VALUE) {
            throw new IllegalArgumentException("a topic has 1 or more replicas, not " + replicationFactor);
        }
        requireTransactions();
        Map<String, Integer> found = partitionsOf(topics);
        requirePartitions(topics, found, partitions);
        List<NewTopic> wanted = new ArrayList<>();
        for (Topics.Spec spec : topics.specs()) {
            if (!found.containsKey(spec.name())) {
                Map<String, String> settings = new HashMap<>(spec.settings());
                if (replicationFactor >= REPLICAS_FOR_TWO_IN_SYNC) {
                    settings.put("min.insync.replicas", "2");
                }
                wanted.add(new NewTopic(spec.name(), spec.partitions(partitions), (short) replicationFactor).configs(settings));
            }
        }
        List<String> made = new ArrayList<>();
        admin.createTopics(wanted).values().forEach((name, future) -> {
            if (createdHere(name, future)) {
                made.add(name);
            }
        });
        // Another process may have created some of them at the same time, with other settings.
        requirePartitions(topics, awaitAll(topics), partitions);
        return new Created(made, List.copyOf(found.keySet()));
    }

    /**
     * Checks a log before something runs on it. The topic of heads may be missing.
     *
     * @return the number of partitions
     * @throws LogSetupException when topics are missing or do not fit together, or the cluster's transactions are too old
     */
    public int check(Topics topics) {
        requireTransactions();
        Map<String, Integer> found = partitionsOf(topics);
        found.remove(topics.heads());
        List<String> missing = topics.specs().stream().filter(Topics.Spec::ofEachLog).map(Topics.Spec::name)
                .filter(name -> !found.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            throw new TopicsMissing(missing);
        }
        // The number that most topics have; of two that are as frequent the one of the events.
        Map<Integer, Integer> votes = new HashMap<>(Map.of(found.getOrDefault(topics.events(), 0), 0));
        found.forEach((name, partitions) -> votes.merge(partitions, name.equals(topics.events()) ? 3 : 2, Integer::sum));
        int partitions = votes.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
        found.forEach((topic, its) -> {
            if (its != partitions) {
                throw PartitionsDiffer.fromOthers(topic, its, partitions);
            }
        });
        return partitions;
    }

    /**
     * Checks that a log has a topic of heads.
     *
     * @throws LogSetupException when it is missing, or has more than one partition
     */
    public void checkHeads(Topics topics) {
        Integer partitions = partitionsOf(topics).get(topics.heads());
        if (partitions == null) {
            throw new TopicsMissing(List.of(topics.heads()));
        }
        if (partitions != 1) {
            throw new PartitionsDiffer(topics.heads(), partitions, 1);
        }
    }

    /**
     * What the principal of this process may do with each topic of the log that exists; a topic that it may not describe has an empty set. Without an
     * authorizer it may do everything.
     */
    public Map<String, Set<AclOperation>> allowed(Topics topics) {
        List<String> names = topics.specs().stream().map(Topics.Spec::name).toList();
        Map<String, Set<AclOperation>> allowed = new TreeMap<>();
        DescribeTopicsOptions withOperations = new DescribeTopicsOptions().includeAuthorizedOperations(true);
        admin.describeTopics(names, withOperations).topicNameValues().forEach((name, future) -> {
            try {
                TopicDescription description = future.get(access.timeout().toMillis(), TimeUnit.MILLISECONDS);
                Set<AclOperation> operations = description.authorizedOperations();
                if (operations != null) {
                    allowed.put(name, operations);
                }
            } catch (ExecutionException e) {
                if (e.getCause() instanceof TopicAuthorizationException) {
                    allowed.put(name, Set.of());
                } else if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                    throw failed("the description of " + name, e);
                }
            } catch (InterruptedException | TimeoutException e) {
                throw failed("the description of " + name, e);
            }
        });
        return allowed;
    }

    /**
     * The space of a log directory of a broker.
     *
     * @param where the directory and its broker, for people
     */
    public record Space(String where, long freeBytes, long totalBytes) {}

    /**
     * The log directories of all brokers.
     *
     * @param least the one that has the least free space; empty when the cluster does not say
     * @param offline those that their brokers have stopped to use, for people, each with the cause
     */
    public record LogDirectories(Optional<Space> least, List<String> offline) {}

    /**
     * How the log directories of all brokers are.
     *
     * @throws LogSetupException when the principal lacks DESCRIBE on the cluster
     */
    public LogDirectories logDirectories() {
        try {
            List<Integer> brokers = get("the brokers", admin.describeCluster().nodes()).stream().map(Node::id).toList();
            List<Space> all = new ArrayList<>();
            List<String> offline = new ArrayList<>();
            get("the log directories", admin.describeLogDirs(brokers).allDescriptions()).forEach((broker, directories) ->
                    directories.forEach((path, found) -> {
                        String where = "log directory " + path + " of broker " + broker;
                        if (found.error() != null) {
                            offline.add(where + " (" + found.error().getMessage() + ")");
                        } else if (found.usableBytes().isPresent() && found.totalBytes().isPresent()) {
                            all.add(new Space(where, found.usableBytes().getAsLong(), found.totalBytes().getAsLong()));
                        }
                    }));
            return new LogDirectories(all.stream().min(Comparator.comparingLong(Space::freeBytes)), offline);
        } catch (LogSetupException e) {
            if (e.getCause() instanceof ClusterAuthorizationException) {
                throw e;
            }
            return new LogDirectories(Optional.empty(), List.of()); // an older broker; one that does not answer is found by others
        }
    }

    /** Gives the connections back. */
    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }

    /** A topic that was made is not seen at once by every broker. */
    private Map<String, Integer> awaitAll(Topics topics) {
        long deadlineNs = System.nanoTime() + access.timeout().toNanos();
        while (true) {
            Map<String, Integer> found = partitionsOf(topics);
            if (found.size() == topics.specs().size()) {
                return found;
            }
            if (System.nanoTime() > deadlineNs) {
                throw failed("the topics made", new TimeoutException("they do not appear"));
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private void requireTransactions() {
        var features = get("the list of features", admin.describeFeatures().featureMetadata()).finalizedFeatures();
        var transactions = features.get(TRANSACTIONS);
        int found = transactions == null ? 0 : transactions.maxVersionLevel();
        if (found < NEEDED_TRANSACTIONS) {
            throw new TransactionsTooOld(found, NEEDED_TRANSACTIONS);
        }
    }

    private static void requirePartitions(Topics topics, Map<String, Integer> found, int ofLog) {
        for (Topics.Spec spec : topics.specs()) {
            int wanted = spec.partitions(ofLog);
            int has = found.getOrDefault(spec.name(), wanted);
            if (has != wanted) {
                throw new PartitionsDiffer(spec.name(), has, wanted);
            }
        }
    }

    /** Those of the topics that exist, with their numbers of partitions. */
    private Map<String, Integer> partitionsOf(Topics topics) {
        List<String> names = topics.specs().stream().map(Topics.Spec::name).toList();
        Map<String, Integer> found = new TreeMap<>();
        admin.describeTopics(names).topicNameValues().forEach((name, future) -> {
            try {
                TopicDescription description = future.get(access.timeout().toMillis(), TimeUnit.MILLISECONDS);
                found.put(name, description.partitions().size());
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                    throw failed("DESCRIBE of topic " + name, e);
                }
            } catch (InterruptedException | TimeoutException e) {
                throw failed("the description of " + name, e);
            }
        });
        return found;
    }

    private boolean createdHere(String name, KafkaFuture<Void> future) {
        try {
            future.get(access.timeout().toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TopicExistsException) {
                return false;
            }
            throw failed("topic " + name, e);
        } catch (InterruptedException | TimeoutException e) {
            throw failed("topic " + name, e);
        }
    }

    private <T> T get(String what, KafkaFuture<T> future) {
        try {
            return future.get(access.timeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw failed(what, e);
        } catch (InterruptedException | TimeoutException e) {
            throw failed(what, e);
        }
    }

    private RuntimeException failed(String what, Exception failure) {
        Throwable cause = failure instanceof ExecutionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof InterruptedException interrupted) {
            return new InterruptException(interrupted);
        }
        if (cause instanceof RetriableException || cause instanceof TimeoutException) {
            return new BrokerUnreachable(access, cause);
        }
        if (cause instanceof UnsupportedVersionException) {
            return new TransactionsTooOld(0, NEEDED_TRANSACTIONS);
        }
        return LogSetupException.of(access, what, cause);
    }
}
