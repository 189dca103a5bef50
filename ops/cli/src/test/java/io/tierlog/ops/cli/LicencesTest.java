/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/**
 * Every library on the class path of the command line and of its tests has a licence of the list in {@code licences.txt}. The licence is the one of
 * the library's pom in the local repository, or of the poms that it inherits from.
 */
class LicencesTest {
    private static final int MOST_PARENTS = 8;

    @Test
    void everyLibraryHasALicenceOfTheList() throws Exception {
        List<String> lines;
        try (InputStream in = LicencesTest.class.getResourceAsStream("/licences.txt")) {
            lines = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> !line.startsWith("#")).toList();
        }
        Set<String> permitted = lines.stream().map(LicencesTest::plain).collect(Collectors.toSet());
        int libraries = 0;
        Set<String> wrong = new TreeSet<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path jar = Path.of(entry).toAbsolutePath();
            Path pom = jar.resolveSibling(jar.getParent().getParent().getFileName() + "-" + jar.getParent().getFileName() + ".pom");
            if (!entry.endsWith(".jar") || !Files.exists(pom)) {
                continue; // a module of this build, or a jar of Surefire
            }
            libraries++;
            String name = jar.getParent().getParent().getFileName().toString();
            List<String> licences = licences(pom, 0);
            boolean known = licences.stream().anyMatch(licence -> permitted.contains(plain(licence)))
                    || lines.stream().anyMatch(line -> line.contains(":" + name + " = "));
            if (!known) {
                wrong.add(name + ": " + (licences.isEmpty() ? "no licence" : String.join(", ", licences)));
            }
        }
        assertTrue(libraries > 30, "only " + libraries + " libraries were looked at");
        assertEquals("", String.join("\n", wrong), "Take another library, or put the licence into ops/cli/src/test/resources/licences.txt");
    }

    private static String plain(String licence) {
        return licence.toLowerCase(Locale.ROOT).replaceAll("\\s+", " ").strip();
    }

    private static List<String> licences(Path pom, int depth) throws IOException, ParserConfigurationException, SAXException {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        Element project = factory.newDocumentBuilder().parse(pom.toFile()).getDocumentElement();
        List<String> found = new ArrayList<>();
        children(project, "licenses").flatMap(all -> children(all, "license"))
                .forEach(one -> found.add(text(one, "name").or(() -> text(one, "url")).orElse("unnamed")));
        Optional<Element> parent = children(project, "parent").findFirst();
        if (!found.isEmpty() || parent.isEmpty() || depth == MOST_PARENTS) {
            return found;
        }
        String artifact = text(parent.get(), "artifactId").orElseThrow();
        String version = text(parent.get(), "version").orElseThrow();
        Path repository = pom;
        int levels = Path.of(group(project).replace('.', '/'), "artifact", "version", "file").getNameCount();
        for (int level = 0; level < levels; level++) {
            repository = repository.getParent();
        }
        Path above = repository.resolve(text(parent.get(), "groupId").orElseThrow().replace('.', '/')).resolve(artifact).resolve(version)
                .resolve(artifact + "-" + version + ".pom");
        return Files.exists(above) ? licences(above, depth + 1) : found;
    }

    private static String group(Element project) {
        return text(project, "groupId").or(() -> children(project, "parent").findFirst().flatMap(parent -> text(parent, "groupId"))).orElseThrow();
    }

    private static Stream<Element> children(Element of, String name) {
        Stream.Builder<Element> found = Stream.builder();
        for (Node child = of.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child instanceof Element element && element.getTagName().equals(name)) {
                found.add(element);
            }
        }
        return found.build();
    }

    private static Optional<String> text(Element of, String name) {
        return children(of, name).findFirst().map(child -> child.getTextContent().strip());
    }
}
