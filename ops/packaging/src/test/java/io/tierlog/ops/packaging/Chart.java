/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.packaging;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.TemplateCommand;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.strimzi.api.kafka.model.topic.KafkaTopic;
import io.strimzi.api.kafka.model.user.KafkaUser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The chart, rendered by Helm's own code. Static and without state. */
final class Chart {
    static final Path DIRECTORY = Deploy.DIRECTORY.resolve("helm/tierlog");

    private static final YAMLMapper YAML = new YAMLMapper();
    /** Refuses fields that a type does not have; the types themselves would keep them aside. */
    private static final YAMLMapper STRICT = YAMLMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .annotationIntrospector(new NoOtherFields())
            .addModule(new JavaTimeModule())
            .build();
    private static final Map<String, Class<?>> TYPES = Map.ofEntries(
            Map.entry("v1/Service", Service.class),
            Map.entry("v1/ConfigMap", ConfigMap.class),
            Map.entry("apps/v1/StatefulSet", StatefulSet.class),
            Map.entry("apps/v1/Deployment", Deployment.class),
            Map.entry("apps/v1/DaemonSet", DaemonSet.class),
            Map.entry("batch/v1/Job", Job.class),
            Map.entry("policy/v1/PodDisruptionBudget", PodDisruptionBudget.class),
            Map.entry("networking.k8s.io/v1/NetworkPolicy", NetworkPolicy.class),
            Map.entry("kafka.strimzi.io/v1/KafkaTopic", KafkaTopic.class),
            Map.entry("kafka.strimzi.io/v1/KafkaUser", KafkaUser.class));

    private static final class NoOtherFields extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1L;

        @Override
        public Boolean hasAnySetter(Annotated annotated) {
            return false;
        }
    }

    private Chart() {}

    /** A values file of the chart's own examples. */
    static Path values(String name) {
        return DIRECTORY.resolve("ci").resolve(name + ".yaml");
    }

    static TemplateCommand template() {
        return new Helm(DIRECTORY).template().withKubeVersion("1.30.0").withName("log").withNamespace("serving");
    }

    /** All objects that the chart makes of a values file. */
    static List<JsonNode> render(String name) throws IOException {
        return objects(template().withValuesFile(values(name)).call());
    }

    static List<JsonNode> objects(String yaml) throws IOException {
        List<JsonNode> objects = new ArrayList<>();
        try (var documents = YAML.readerFor(JsonNode.class).<JsonNode>readValues(yaml)) {
            while (documents.hasNext()) {
                JsonNode object = documents.next();
                if (object.isObject()) {
                    objects.add(object);
                }
            }
        }
        return objects;
    }

    /** Reads {@code object} as the type of its kind, which must have all its fields; objects of other operators have no type here. */
    static void requireType(JsonNode object) throws IOException {
        String kind = object.get("apiVersion").asText() + "/" + object.get("kind").asText();
        if (kind.equals("monitoring.coreos.com/v1/PodMonitor")) {
            return;
        }
        Class<?> type = TYPES.get(kind);
        if (type == null) {
            throw new AssertionError("no type is known for " + kind);
        }
        STRICT.treeToValue(object, type);
    }

    static String name(JsonNode object) {
        return object.get("kind").asText() + "/" + object.at("/metadata/name").asText();
    }

    /** The pod template of a workload; a missing node for other kinds. */
    static JsonNode pod(JsonNode object) {
        return object.at("/spec/template");
    }

    static List<JsonNode> list(JsonNode array) {
        List<JsonNode> all = new ArrayList<>();
        array.forEach(all::add);
        return all;
    }
}
