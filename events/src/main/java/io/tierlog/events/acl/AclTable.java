/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.acl;

import static org.apache.kafka.common.acl.AclOperation.ALTER_CONFIGS;
import static org.apache.kafka.common.acl.AclOperation.CREATE;
import static org.apache.kafka.common.acl.AclOperation.DESCRIBE;
import static org.apache.kafka.common.acl.AclOperation.DESCRIBE_CONFIGS;
import static org.apache.kafka.common.acl.AclOperation.READ;
import static org.apache.kafka.common.acl.AclOperation.WRITE;
import static org.apache.kafka.common.resource.PatternType.LITERAL;
import static org.apache.kafka.common.resource.PatternType.PREFIXED;

import io.tierlog.events.LogSetupException.AclsMissing;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.Resource;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/**
 * The ACLs that each role needs, and no more: the one table that the command {@code tierlog acls}, the tests and the documents share. Immutable.
 *
 * <p>Every part describes all topics of the log when it starts. IDEMPOTENT_WRITE on the cluster is implied by WRITE on any topic, CREATE of the
 * changelog by CREATE on its prefix. DELETE is granted to no role. Trade-off: Kafka's ACLs end at the topic, so a principal that may write events may
 * write them in the name of another node.
 *
 * @param topics the topics of the log
 * @param applicationId of the controllers: their group, their changelog and their transactions begin with it
 */
public record AclTable(Topics topics, String applicationId) {
    private static final String ANY_HOST = "*";

    /** The ACLs of {@code role}, for {@code principal} as the authorizer names it, for example {@code User:agents}. */
    public List<AclBinding> of(AccessRole role, String principal) {
        Rows rows = new Rows(principal);
        rows.add(ResourceType.TOPIC, PREFIXED, topics.prefix() + ".", DESCRIBE);
        switch (role) {
            case CONTROLLER -> controller(rows);
            case AGENT -> {
                rows.topic(topics.events(), WRITE);
                rows.topic(topics.commands(), READ);
                rows.topic(topics.decisions(), READ);
                rows.topic(topics.deadLetters(), WRITE);
            }
            case DIRECTORY -> {
                rows.topic(topics.placements(), READ);
                rows.topic(topics.decisions(), READ);
                rows.topic(topics.events(), WRITE);
                rows.add(ResourceType.GROUP, PREFIXED, topics.directories(), READ, DESCRIBE);
            }
            case PUBLISHER -> rows.topic(topics.decisions(), READ);
            case OPERATOR -> {
                rows.topic(topics.events(), WRITE);
                rows.topic(topics.decisions(), READ);
            }
            case AUDITOR -> {
                rows.topic(topics.events(), READ);
                rows.topic(topics.decisions(), READ);
                rows.topic(topics.commands(), READ);
                rows.topic(topics.placements(), READ);
                rows.topic(topics.heads(), READ);
            }
            case SIGNER -> {
                rows.topic(topics.events(), READ);
                rows.topic(topics.decisions(), READ);
                rows.topic(topics.heads(), READ, WRITE);
                rows.add(ResourceType.TRANSACTIONAL_ID, LITERAL, transactionOfHeads(topics), WRITE, DESCRIBE);
            }
            case DASHBOARD -> {
                rows.topic(topics.events(), READ);
                rows.topic(topics.decisions(), READ);
                rows.topic(topics.commands(), READ);
                rows.topic(topics.placements(), READ);
                rows.topic(topics.deadLetters(), READ);
                streams(rows, topics.dashboards());
            }
            case SETUP -> rows.add(ResourceType.TOPIC, PREFIXED, topics.prefix() + ".", CREATE, ALTER_CONFIGS, DESCRIBE_CONFIGS);
        }
        return rows.bindings;
    }

    /** Id of the transactions in which heads are written. */
    public static String transactionOfHeads(Topics topics) {
        return topics.prefix() + "-heads";
    }

    private void controller(Rows rows) {
        rows.topic(topics.events(), READ, WRITE);
        rows.topic(topics.decisions(), READ, WRITE);
        rows.topic(topics.commands(), WRITE);
        rows.topic(topics.messages(), READ, WRITE);
        rows.topic(topics.placements(), WRITE);
        rows.topic(topics.deadLetters(), WRITE);
        streams(rows, applicationId);
        // The free space of the brokers' disks, for /health and a metric.
        rows.add(ResourceType.CLUSTER, LITERAL, Resource.CLUSTER_NAME, DESCRIBE);
    }

    /** The group, the changelogs and the transactions of a Streams application. */
    private static void streams(Rows rows, String application) {
        rows.add(ResourceType.TOPIC, PREFIXED, application + "-", CREATE, READ, WRITE, DESCRIBE, DESCRIBE_CONFIGS);
        rows.add(ResourceType.GROUP, PREFIXED, application, READ, DESCRIBE);
        rows.add(ResourceType.TRANSACTIONAL_ID, PREFIXED, application + "-", WRITE, DESCRIBE);
    }

    /**
     * Checks before a part runs that its principal may do all that its roles need with the topics of the log. Groups, changelogs and transactions are
     * not checked: they do not exist yet.
     *
     * @throws AclsMissing that names each missing ACL
     */
    public static void require(TopicAdmin admin, Topics topics, AccessRole... roles) {
        Map<String, Set<AclOperation>> allowed = admin.allowed(topics);
        Set<String> missing = new LinkedHashSet<>();
        AclTable table = new AclTable(topics, topics.prefix());
        for (AccessRole role : roles) {
            for (AclBinding acl : table.of(role, "User:this")) {
                Set<AclOperation> operations = allowed.get(acl.pattern().name());
                if (acl.pattern().resourceType() == ResourceType.TOPIC && operations != null && !operations.contains(acl.entry().operation())) {
                    missing.add(acl.entry().operation() + " on topic " + acl.pattern().name());
                }
            }
        }
        if (!missing.isEmpty()) {
            throw new AclsMissing(List.copyOf(missing), Arrays.stream(roles).map(role -> role.name().toLowerCase(Locale.ROOT)).toList());
        }
    }

    /** The ACLs of one principal. */
    private static final class Rows {
        private final List<AclBinding> bindings = new ArrayList<>();
        private final String principal;

        Rows(String principal) {
            this.principal = principal;
        }

        void topic(String name, AclOperation... operations) {
            add(ResourceType.TOPIC, LITERAL, name, operations);
        }

        void add(ResourceType type, PatternType pattern, String name, AclOperation... operations) {
            for (AclOperation operation : operations) {
                bindings.add(new AclBinding(new ResourcePattern(type, name, pattern),
                        new AccessControlEntry(principal, ANY_HOST, operation, AclPermissionType.ALLOW)));
            }
        }
    }
}
