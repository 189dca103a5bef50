/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine.ParseResult;

/** The compose file: commands that the program accepts, files that are there, services that know each other. */
class ComposeTest {
    private static final Path DIRECTORY = Deploy.DIRECTORY.resolve("compose");
    private static JsonNode services;
    private static JsonNode volumes;

    @BeforeAll
    static void read() throws IOException {
        // Jackson does not merge what an anchor names.
        JsonNode compose = new ObjectMapper().valueToTree(new Yaml().load(Files.readString(DIRECTORY.resolve("compose.yaml"))));
        services = compose.get("services");
        volumes = compose.get("volumes");
    }

    private static boolean isTierlog(JsonNode service) {
        return service.get("image").asText().contains("tierlog/tierlog");
    }

    private static List<String> command(JsonNode service) {
        return Chart.list(service.get("command")).stream().map(JsonNode::asText).toList();
    }

    @Test
    void theProgramAcceptsEveryCommandAndItsSettings() throws IOException {
        int commands = 0;
        for (var service : services.properties()) {
            if (isTierlog(service.getValue())) {
                List<String> command = command(service.getValue());
                ParseResult parsed = Deploy.parsed(command);
                if (parsed.hasMatchedOption("--config")) {
                    assertEquals(Set.of(), Deploy.unknownSettings(DIRECTORY.resolve("cluster.properties"), command.getFirst()), service.getKey());
                }
                commands++;
            }
        }
        assertTrue(commands >= 8, () -> services.toString());
    }

    @Test
    void theFilesAndVolumesAndServicesThatItNamesAreThere() {
        Set<String> ports = new HashSet<>();
        for (var service : services.properties()) {
            for (JsonNode mount : service.getValue().path("volumes")) {
                String source = mount.asText().split(":", 2)[0];
                boolean there = source.startsWith(".") ? Files.exists(DIRECTORY.resolve(source)) : volumes.has(source);
                assertTrue(there, () -> service.getKey() + " mounts " + mount);
            }
            JsonNode needed = service.getValue().path("depends_on");
            Stream<String> names = needed.isObject() ? needed.propertyStream().map(Map.Entry::getKey)
                    : Chart.list(needed).stream().map(JsonNode::asText);
            names.forEach(name -> assertTrue(services.has(name), () -> service.getKey() + " needs " + name));
            for (JsonNode port : service.getValue().path("ports")) {
                assertTrue(port.asText().startsWith("127.0.0.1:"), () -> service.getKey() + " is open to other machines: " + port);
                assertTrue(ports.add(port.asText().split(":", 3)[1]), () -> "a port twice: " + port);
            }
        }
    }

    /** Prometheus asks services at a port that their command opens. */
    @Test
    void prometheusScrapesPortsThatAreOpen() throws IOException {
        JsonNode prometheus = new YAMLMapper().readTree(DIRECTORY.resolve("prometheus.yml").toFile());
        Set<String> scraped = new TreeSet<>();
        for (JsonNode job : prometheus.get("scrape_configs")) {
            for (JsonNode target : job.at("/static_configs/0/targets")) {
                String[] address = target.asText().split(":", 2);
                String text = String.join(" ", command(services.get(address[0])));
                boolean open = text.contains(":" + address[1]) || text.contains("--http-host=0.0.0.0") && address[1].equals("8080");
                assertTrue(open, () -> target + " is not open in " + text);
                scraped.add(address[0]);
            }
        }
        assertEquals(Set.of("agent-a", "agent-b", "controller-1", "controller-2", "directory"), scraped);
    }

    /** Every Tierlog part that listens has a health check at a port that its command opens, by default or by name. */
    @Test
    void healthChecksAskPortsThatAreOpen() {
        Set<String> checked = new TreeSet<>();
        for (var service : services.properties()) {
            JsonNode test = service.getValue().at("/healthcheck/test");
            if (isTierlog(service.getValue()) && !test.isMissingNode()) {
                String last = test.get(test.size() - 1).asText();
                String port = last.substring(last.lastIndexOf('/') + 1);
                String text = String.join(" ", command(service.getValue()));
                assertTrue(text.contains(":" + port) || text.contains("--http-host=0.0.0.0") && port.equals("8080"), () -> port + ": " + text);
                assertTrue(last.contains("/dev/tcp/") || test.get(3).asText().contains("GET /health"), test::toString);
                checked.add(service.getKey());
            }
        }
        assertEquals(Set.of("agent-a", "agent-b", "controller-1", "controller-2", "dashboard", "directory"), checked);
    }

    /** The same Kafka and registry as in the tests, and the version of this build. */
    @Test
    void theImagesHaveTheVersionsOfTheBuild() throws IOException {
        String pom = Files.readString(Deploy.ROOT.resolve("pom.xml"));
        Set<String> images = new TreeSet<>();
        services.forEach(service -> images.add(service.get("image").asText()));
        for (String name : List.of("kafka", "apicurio")) {
            var version = Pattern.compile("<" + name + "\\.version>(.*)</").matcher(pom);
            assertTrue(version.find());
            assertTrue(images.stream().anyMatch(image -> image.contains(name) && image.endsWith(":" + version.group(1))), images::toString);
        }
        assertTrue(images.contains("${TIERLOG_IMAGE:-tierlog/tierlog:" + System.getProperty("tierlog.version") + "}"), images::toString);
    }
}
