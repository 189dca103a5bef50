/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.events.topic.Topics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.Test;

/** Topics and users for Strimzi are those of the code. */
class StrimziTest {
    private static final Path FILE = Chart.DIRECTORY.resolve("files/kafka.json");
    private static final String PREFIX = "TOPICPREFIX";
    private static final ObjectMapper JSON = new ObjectMapper();

    /** With {@code -Dtierlog.write.docs=true} this writes the file. */
    @Test
    void theChartsTableIsThatOfTheCode() throws Exception {
        String expected = JSON.writerWithDefaultPrettyPrinter().writeValueAsString(table()) + "\n";
        if (Boolean.getBoolean("tierlog.write.docs")) {
            Files.createDirectories(FILE.getParent());
            Files.writeString(FILE, expected);
        }

        assertEquals(expected, Files.readString(FILE), "run this test with -Dtierlog.write.docs=true");
    }

    private static ObjectNode table() {
        Topics topics = new Topics(PREFIX);
        ObjectNode all = JSON.createObjectNode();
        ArrayNode topicList = all.putArray("topics");
        for (Topics.Spec spec : topics.specs()) {
            ObjectNode topic = topicList.addObject().put("name", spec.name());
            if (!spec.ofEachLog()) {
                topic.put("partitions", spec.partitions(1));
            }
            ObjectNode config = topic.putObject("config");
            new TreeMap<>(spec.settings()).forEach(config::put);
        }
        ArrayNode roles = all.putArray("roles");
        AclTable table = new AclTable(topics, topics.controllers());
        for (AccessRole role : AccessRole.values()) {
            ObjectNode object = roles.addObject().put("name", role.name().toLowerCase(Locale.ROOT));
            ArrayNode acls = object.putArray("acls");
            operations(table, role).forEach((resource, operations) -> {
                ObjectNode acl = acls.addObject();
                ObjectNode of = acl.putObject("resource").put("type", camel(resource.resourceType().name()));
                if (resource.resourceType() != ResourceType.CLUSTER) { // there is one
                    of.put("name", resource.name()).put("patternType", resource.patternType().name().toLowerCase(Locale.ROOT));
                }
                ArrayNode list = acl.putArray("operations");
                operations.forEach(operation -> list.add(pascal(operation.name())));
            });
        }
        return all;
    }

    private static Map<ResourcePattern, Set<AclOperation>> operations(AclTable table, AccessRole role) {
        Map<ResourcePattern, Set<AclOperation>> operations = new LinkedHashMap<>();
        for (AclBinding acl : table.of(role, "User:any")) {
            operations.computeIfAbsent(acl.pattern(), _ -> new TreeSet<>()).add(acl.entry().operation());
        }
        return operations;
    }

    /** DESCRIBE_CONFIGS as Strimzi writes it: DescribeConfigs. */
    private static String pascal(String name) {
        StringBuilder words = new StringBuilder();
        for (String word : name.split("_", -1)) {
            words.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return words.toString();
    }

    private static String camel(String name) {
        String pascal = pascal(name);
        return Character.toLowerCase(pascal.charAt(0)) + pascal.substring(1);
    }

    @Test
    void theObjectsCarryThePrefixOfTheValues() throws Exception {
        List<JsonNode> objects = Chart.objects(
                Chart.template().withValuesFile(Chart.values("strimzi")).set("kafka.topicPrefix", "prod").call());
        Set<String> topics = new TreeSet<>();
        Set<String> users = new TreeSet<>();
        for (JsonNode object : objects) {
            if (object.get("kind").asText().equals("KafkaTopic")) {
                topics.add(object.at("/spec/topicName").asText());
                assertEquals("keep", object.at("/metadata/annotations/helm.sh~1resource-policy").asText(), () -> Chart.name(object));
                String partitions = object.at("/spec/topicName").asText().equals("prod.heads") ? "1" : "24";
                assertEquals(partitions + " 2",
                        object.at("/spec/partitions").asText() + " " + object.at("/spec/config/min.insync.replicas").asText());
            } else if (object.get("kind").asText().equals("KafkaUser")) {
                users.add(object.at("/metadata/name").asText());
                assertEquals("scram-sha-512", object.at("/spec/authentication/type").asText());
            }
        }
        Set<String> expected = new TreeSet<>();
        new Topics("prod").specs().forEach(spec -> expected.add(spec.name()));
        assertEquals(expected, topics);
        assertEquals(AccessRole.values().length, users.size(), users::toString);
    }
}
