/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.packaging;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The chart: by Helm's own lint and template, the types of Kubernetes, and the command line that its containers run. */
class ChartTest {
    private static final Pattern PORT = Pattern.compile("(?:--http-port|listen|advertise) \\S*?(\\d{4,5})(?: |$)");

    @Test
    void lintFindsNothing() {
        LintResult result = new Helm(Chart.DIRECTORY).lint().strict().call();

        assertFalse(result.isFailed(), () -> result.getMessages().toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"smallest", "everything", "strimzi"})
    void everyObjectHasOnlyFieldsOfItsTypeAndANameOfItsOwn(String values) throws Exception {
        Set<String> names = new HashSet<>();
        for (JsonNode object : Chart.render(values)) {
            assertDoesNotThrow(() -> Chart.requireType(object), () -> Chart.name(object));
            assertTrue(names.add(Chart.name(object)), () -> "twice: " + Chart.name(object));
        }
        assertTrue(names.size() >= 10, names::toString);
    }

    @Test
    void aFieldThatNoTypeHasIsFound() throws Exception {
        List<JsonNode> objects = Chart.objects("apiVersion: v1\nkind: Service\nmetadata: { name: x }\nspec: { selectors: {} }\n");

        assertThrows(Exception.class, () -> Chart.requireType(objects.getFirst()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"smallest", "everything", "strimzi"})
    void theProgramAcceptsTheArgumentsOfEveryContainer(String values) throws Exception {
        int containers = 0;
        for (JsonNode object : Chart.render(values)) {
            for (JsonNode container : Chart.pod(object).at("/spec/containers")) {
                List<String> arguments = Chart.list(container.get("args")).stream().map(JsonNode::asText).toList();
                assertTrue(Deploy.parsed(arguments).hasMatchedOption("--bootstrap-servers"), arguments::toString);
                containers++;
            }
        }
        assertTrue(containers >= 2, () -> values);
    }

    /** A port that a part listens at is a port of its container, and the network policy lets these in and no others. */
    @ParameterizedTest
    @ValueSource(strings = {"smallest", "everything"})
    void whatAPartListensAtIsOpenAndNothingElse(String values) throws Exception {
        List<JsonNode> objects = Chart.render(values);
        Map<String, Set<Integer>> listens = new TreeMap<>();
        Map<String, Set<Integer>> declared = new TreeMap<>();
        Map<String, Set<Integer>> letIn = new TreeMap<>();
        for (JsonNode object : objects) {
            String part = object.at("/metadata/labels/app.kubernetes.io~1component").asText();
            for (JsonNode container : Chart.pod(object).at("/spec/containers")) {
                if (part.equals("setup")) {
                    continue;
                }
                String arguments = String.join(" ", Chart.list(container.get("args")).stream().map(JsonNode::asText).toList());
                Set<Integer> ports = new TreeSet<>();
                PORT.matcher(arguments).results().forEach(match -> ports.add(Integer.valueOf(match.group(1))));
                listens.put(part, ports);
                container.get("ports").forEach(port -> declared.computeIfAbsent(part, _ -> new TreeSet<>()).add(port.get("containerPort").asInt()));
            }
            if (object.get("kind").asText().equals("NetworkPolicy")) {
                object.at("/spec/ingress/0/ports").forEach(port -> letIn.computeIfAbsent(part, _ -> new TreeSet<>()).add(port.get("port").asInt()));
            }
        }
        assertTrue(listens.size() >= 4, listens::toString);
        assertEquals(listens, declared);
        assertEquals(listens, letIn);
    }

    /** Probes and services name ports of the container, and selectors the labels of one workload's pods. */
    @ParameterizedTest
    @ValueSource(strings = {"smallest", "everything"})
    void selectorsAndPortNamesFit(String values) throws Exception {
        List<JsonNode> objects = Chart.render(values);
        List<JsonNode> pods = objects.stream().filter(object -> !Chart.pod(object).isMissingNode()).toList();
        for (JsonNode object : objects) {
            JsonNode selector = switch (object.get("kind").asText()) {
                case "Service" -> object.at("/spec/selector");
                case "PodDisruptionBudget", "StatefulSet", "Deployment", "DaemonSet", "PodMonitor" -> object.at("/spec/selector/matchLabels");
                case "NetworkPolicy" -> object.at("/spec/podSelector/matchLabels");
                default -> null;
            };
            if (selector == null) {
                continue;
            }
            List<JsonNode> matched = pods.stream().filter(pod -> matches(selector, Chart.pod(pod).at("/metadata/labels"))).toList();
            assertEquals(1, matched.size(), () -> Chart.name(object) + " selects " + matched.stream().map(Chart::name).toList());
            Set<String> ports = new HashSet<>();
            Chart.pod(matched.getFirst()).at("/spec/containers/0/ports").forEach(port -> ports.add(port.get("name").asText()));
            for (JsonNode port : object.at("/spec/ports")) {
                assertTrue(ports.contains(port.get("targetPort").asText()), () -> Chart.name(object) + " " + port);
            }
        }
        for (JsonNode pod : pods) {
            JsonNode container = Chart.pod(pod).at("/spec/containers/0");
            Set<String> ports = new HashSet<>();
            container.path("ports").forEach(port -> ports.add(port.get("name").asText()));
            for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
                for (String way : List.of("httpGet", "tcpSocket")) {
                    JsonNode port = container.at("/" + probe + "/" + way + "/port");
                    assertTrue(port.isMissingNode() || ports.contains(port.asText()), () -> Chart.name(pod) + " " + probe);
                }
            }
        }
    }

    private static boolean matches(JsonNode selector, JsonNode labels) {
        return selector.properties().stream().allMatch(label -> label.getValue().equals(labels.get(label.getKey())));
    }

    /** No container may become root or write its image; the one exception owns the node's directories before the agent starts. */
    @ParameterizedTest
    @ValueSource(strings = {"smallest", "everything"})
    void containersMayNoMoreThanTheyNeed(String values) throws Exception {
        for (JsonNode object : Chart.render(values)) {
            JsonNode pod = Chart.pod(object);
            if (pod.isMissingNode()) {
                continue;
            }
            assertTrue(pod.at("/spec/securityContext/runAsNonRoot").asBoolean(), () -> Chart.name(object));
            List<JsonNode> containers = new ArrayList<>(Chart.list(pod.at("/spec/containers")));
            containers.addAll(Chart.list(pod.at("/spec/initContainers")));
            for (JsonNode container : containers) {
                JsonNode security = container.get("securityContext");
                assertTrue(security.get("readOnlyRootFilesystem").asBoolean(), () -> Chart.name(object));
                assertFalse(security.get("allowPrivilegeEscalation").asBoolean(true), () -> Chart.name(object));
                assertEquals("[\"ALL\"]", security.at("/capabilities/drop").toString());
                assertEquals(container.get("name").asText().equals("directories"), security.has("runAsUser"), () -> Chart.name(object));
            }
            for (JsonNode mount : pod.at("/spec/containers/0/volumeMounts")) {
                boolean there = Chart.list(pod.at("/spec/volumes")).stream().anyMatch(volume -> volume.get("name").equals(mount.get("name")))
                        || Chart.list(object.at("/spec/volumeClaimTemplates")).stream()
                                .anyMatch(claim -> claim.at("/metadata/name").equals(mount.get("name")));
                assertTrue(there, () -> Chart.name(object) + " has no volume " + mount);
            }
        }
    }

    /** The chart takes secrets by their names, and each part the client settings of its own role. */
    @Test
    void secretsAreReferences() throws Exception {
        Map<String, Set<String>> secrets = new TreeMap<>();
        for (JsonNode object : Chart.render("everything")) {
            assertFalse(object.get("kind").asText().equals("Secret"));
            for (JsonNode volume : Chart.pod(object).at("/spec/volumes")) {
                if (volume.has("secret")) {
                    secrets.computeIfAbsent(object.at("/metadata/labels/app.kubernetes.io~1component").asText(), _ -> new TreeSet<>())
                            .add(volume.at("/secret/secretName").asText());
                }
            }
        }
        assertEquals(
                Map.of(
                        "agent", Set.of("keys-agent", "kafka-agent", "store-login", "tierlog-tls", "tierlog-tokens"),
                        "controller", Set.of("keys-controller", "kafka-controller", "tierlog-tls", "tierlog-tokens"),
                        "directory", Set.of("keys-directory", "kafka-directory", "tierlog-tls", "tierlog-tokens"),
                        "dashboard", Set.of("kafka-dashboard", "tierlog-tls", "tierlog-tokens"),
                        "bridge", Set.of("keys-bridge", "kafka-bridge", "tierlog-tls"), "setup", Set.of("kafka-setup")),
                secrets);
    }

    @ParameterizedTest
    @CsvSource({
        "controller.replicas, 0", "agent.host, 64 gigabytes", "topics.partitions, 2000", "image.pullPolicy, Sometimes", "no.such.value, 1",
        "kafka.bootstrapServers, kafka", "strimzi.authentication, password", "recordKeys.agents, keys"
    })
    void aValueOutsideItsBoundsIsRefusedByName(String key, String value) {
        RuntimeException refused = assertThrows(
                RuntimeException.class, () -> Chart.template().withValuesFile(Chart.values("smallest")).set(key, value).call());

        String last = key.substring(key.lastIndexOf('.') + 1);
        assertTrue(refused.getMessage().contains(last) || refused.getMessage().contains("no"), refused::getMessage);
    }

    /** An agent runs on every node: it must not see an operator's token. */
    @Test
    void eachPartSeesItsOwnTokensAlone() throws Exception {
        Map<String, Set<String>> tokens = new TreeMap<>();
        for (JsonNode object : Chart.render("everything")) {
            for (JsonNode volume : Chart.pod(object).at("/spec/volumes")) {
                if (volume.get("name").asText().equals("tokens")) {
                    String part = object.at("/metadata/labels/app.kubernetes.io~1component").asText();
                    Set<String> keys = tokens.computeIfAbsent(part, _ -> new TreeSet<>());
                    volume.at("/secret/items").forEach(item -> keys.add(item.get("key").asText()));
                }
            }
        }
        assertEquals(
                Map.of("agent", Set.of("agent-token", "directory-token"), "controller", Set.of("tokens"), "dashboard", Set.of("tokens"),
                        "directory", Set.of("peer-token", "tokens")),
                tokens);
    }

    /** An agent mounts the file of its own node, by a variable that its container has; every other part mounts one file of its Secret. */
    @Test
    void eachPartSeesItsOwnRecordKeysAlone() throws Exception {
        Map<String, String> files = new TreeMap<>();
        for (JsonNode object : Chart.render("everything")) {
            JsonNode container = Chart.pod(object).at("/spec/containers/0");
            for (JsonNode mount : container.path("volumeMounts")) {
                if (mount.get("name").asText().equals("record-keys")) {
                    String part = object.at("/metadata/labels/app.kubernetes.io~1component").asText();
                    List<String> arguments = Chart.list(container.get("args")).stream().map(JsonNode::asText).toList();
                    assertEquals(mount.get("mountPath").asText(), arguments.get(arguments.indexOf("--record-keys") + 1), part);
                    assertTrue(mount.get("readOnly").asBoolean(), part);
                    files.put(part, mount.has("subPathExpr") ? "by " + mount.get("subPathExpr").asText() : mount.get("subPath").asText());
                    assertEquals(part.equals("agent"), mount.has("subPathExpr"), part);
                    assertEquals(!part.equals("agent"), mount.has("subPath"), part);
                }
            }
            if (container.path("name").asText().equals("agent")) {
                assertTrue(Chart.list(container.get("env")).stream().anyMatch(variable -> variable.get("name").asText().equals("NODE_NAME")
                        && variable.at("/valueFrom/fieldRef/fieldPath").asText().equals("spec.nodeName")), container::toString);
            }
        }
        assertEquals(
                Map.of("agent", "by $(NODE_NAME).keys", "bridge", "bridge.keys", "controller", "master.keys", "directory", "directory.keys"), files);
    }

    @Test
    void anAgentFindsTheCredentialsOfTheStoreAsVariablesAndAsFiles() throws Exception {
        JsonNode spec = Chart.pod(agent(Chart.render("everything"))).get("spec");
        JsonNode container = spec.at("/containers/0");

        assertEquals("store-login", container.at("/envFrom/0/secretRef/name").asText());
        assertTrue(Chart.list(container.get("volumeMounts")).stream().anyMatch(mount -> mount.get("mountPath").asText().equals("/etc/tierlog/store")
                && mount.get("name").asText().equals("store-secret") && mount.get("readOnly").asBoolean()), container::toString);
        assertEquals("kv-agent", spec.get("serviceAccountName").asText());
        assertEquals("serving", Chart.pod(agent(Chart.render("everything"))).at("/metadata/annotations/example.org~1team").asText());
    }

    @Test
    void withoutTheirValuesThereAreNoRecordKeysAndNoCredentials() throws Exception {
        List<JsonNode> objects = Chart.render("smallest");

        assertFalse(objects.toString().contains("record-keys"), objects::toString);
        JsonNode spec = Chart.pod(agent(objects)).get("spec");
        assertFalse(spec.has("serviceAccountName") || spec.at("/containers/0").has("envFrom"), spec::toString);
        assertFalse(spec.toString().contains("store-secret"), spec::toString);
    }

    /** {@code helm upgrade --reuse-values} keeps the values of a chart that had none of them. */
    @Test
    void valuesOfAChartWithoutRecordKeysAreTaken() throws Exception {
        List<JsonNode> objects = Chart.objects(Chart.template().withValuesFile(Chart.values("smallest")).set("recordKeys", "null").call());

        assertEquals(Chart.render("smallest"), objects);
    }

    private static JsonNode agent(List<JsonNode> objects) {
        return objects.stream().filter(object -> object.get("kind").asText().equals("DaemonSet")).findFirst().orElseThrow();
    }

    @Test
    void aBridgeWithoutSourcesIsRefused() {
        RuntimeException refused = assertThrows(
                RuntimeException.class, () -> Chart.template().withValuesFile(Chart.values("smallest")).set("bridge.enabled", true).call());

        assertTrue(refused.getMessage().contains("bridge.sources"), refused::getMessage);
    }

    @ParameterizedTest
    @ValueSource(strings = {"kafka.bootstrapServers", "agent.store"})
    void aMissingValueIsNamed(String key) {
        RuntimeException refused =
                assertThrows(RuntimeException.class, () -> Chart.template().withValuesFile(Chart.values("smallest")).set(key, "").call());

        assertTrue(refused.getMessage().contains(key), refused::getMessage);
    }
}
