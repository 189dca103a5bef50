/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.acl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.topic.Topics;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What each role may do, and above all what it may not. */
class AclTableTest {
    private static final AclTable TABLE = new AclTable(new Topics("log1"), "app1");

    private static Set<String> names(AccessRole role, AclOperation operation, PatternType pattern) {
        Set<String> names = new TreeSet<>();
        for (AclBinding acl : TABLE.of(role, "User:x")) {
            if (acl.entry().operation() == operation && acl.pattern().patternType() == pattern
                    && acl.pattern().resourceType() == ResourceType.TOPIC) {
                names.add(acl.pattern().name());
            }
        }
        return names;
    }

    private static Set<String> written(AccessRole role) {
        return names(role, AclOperation.WRITE, PatternType.LITERAL);
    }

    private static Set<String> read(AccessRole role) {
        return names(role, AclOperation.READ, PatternType.LITERAL);
    }

    /** Only the controller decides: a forged decision would change the state of the log. */
    @ParameterizedTest
    @EnumSource(AccessRole.class)
    void onlyTheControllerWritesDecisionsCommandsMessagesAndPlacements(AccessRole role) {
        Set<String> reserved = new TreeSet<>(Set.of("log1.decisions", "log1.commands", "log1.messages", "log1.placements"));
        if (role == AccessRole.CONTROLLER) {
            assertTrue(written(role).containsAll(reserved));
        } else {
            reserved.retainAll(written(role));
            assertEquals(Set.of(), reserved);
        }
    }

    @Test
    void eachRoleReadsAndWritesItsTopicsAndNoOthers() {
        assertEquals(Set.of("log1.events", "log1.dead-letters"), written(AccessRole.AGENT));
        assertEquals(Set.of("log1.commands", "log1.decisions"), read(AccessRole.AGENT));
        assertEquals(Set.of("log1.events"), written(AccessRole.DIRECTORY));
        assertEquals(Set.of("log1.placements", "log1.decisions"), read(AccessRole.DIRECTORY));
        assertEquals(Set.of("log1.events"), written(AccessRole.OPERATOR));
        assertEquals(Set.of(), written(AccessRole.AUDITOR));
        assertEquals(Set.of("log1.events", "log1.decisions", "log1.commands", "log1.placements", "log1.heads"), read(AccessRole.AUDITOR));
        assertEquals(Set.of("log1.heads"), written(AccessRole.SIGNER));
        assertEquals(Set.of("log1.events", "log1.decisions", "log1.heads"), read(AccessRole.SIGNER));
        assertEquals(Set.of(), written(AccessRole.DASHBOARD));
        assertEquals(Set.of("log1.events", "log1.decisions", "log1.commands", "log1.placements", "log1.dead-letters"), read(AccessRole.DASHBOARD));
        assertEquals(Set.of("log1-dashboard-"), names(AccessRole.DASHBOARD, AclOperation.WRITE, PatternType.PREFIXED));
        assertEquals(Set.of(), written(AccessRole.PUBLISHER));
        assertEquals(Set.of("log1.decisions"), read(AccessRole.PUBLISHER));
        assertEquals(Set.of(), written(AccessRole.SETUP));
        assertEquals(Set.of(), read(AccessRole.SETUP));
    }

    /** A controller that is taken over cannot sign what it changed. */
    @ParameterizedTest
    @EnumSource(AccessRole.class)
    void onlyTheSignerWritesHeads(AccessRole role) {
        assertEquals(role == AccessRole.SIGNER, written(role).contains("log1.heads"));
    }

    @ParameterizedTest
    @EnumSource(AccessRole.class)
    void noRoleDeletesOrAltersTheClusterAndAllDescribeTheTopics(AccessRole role) {
        for (AclBinding acl : TABLE.of(role, "User:x")) {
            assertEquals("User:x", acl.entry().principal());
            assertFalse(Set.of(AclOperation.DELETE, AclOperation.ALL, AclOperation.ALTER, AclOperation.CLUSTER_ACTION)
                    .contains(acl.entry().operation()), acl::toString);
            // DESCRIBE on the cluster shows the free space of the brokers, and is for the controller alone.
            boolean freeSpace = role == AccessRole.CONTROLLER && acl.entry().operation() == AclOperation.DESCRIBE;
            assertFalse(acl.pattern().resourceType() == ResourceType.CLUSTER && !freeSpace, acl::toString);
            assertTrue(acl.pattern().resourceType() == ResourceType.CLUSTER || acl.pattern().name().startsWith("log1")
                    || acl.pattern().name().startsWith("app1"), acl::toString);
        }
        assertEquals(Set.of("log1."), names(role, AclOperation.DESCRIBE, PatternType.PREFIXED).stream()
                .filter(name -> name.startsWith("log1.")).collect(Collectors.toSet()));
    }
}
