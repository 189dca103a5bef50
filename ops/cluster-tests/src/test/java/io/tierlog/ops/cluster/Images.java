/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.BuildImageResultCallback;
import com.github.dockerjava.api.exception.NotFoundException;
import java.io.BufferedOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.TestcontainersConfiguration;

/**
 * The images of the tests: official ones by their names, and Tierlog's own, which is made by the Dockerfile of
 * the release. Where there is no
 * registry, {@code ops/containers/images} has made local ones under a prefix. Static and without state.
 */
final class Images {
    private static final String TIERLOG = "tierlog/tierlog:tests";
    private static final String JAVA_HERE = "tierlog-local/java:25";
    private static final String JAVA_ELSEWHERE = "eclipse-temurin:25-jre";
    private static final long BUILD_MINUTES = 3;
    private static final List<String> TESTS_ONLY = List.of("/org/testcontainers/", "/com/github/docker-java/", "/org/junit/", "/cluster-tests/");

    private Images() {}

    /** Kafka's official image, or the local one that stands in for it. */
    static DockerImageName kafka() {
        return official("apache/kafka:" + System.getProperty("kafka.version", "4.3.1"));
    }

    /** Apicurio's official image, or the local one that stands in for it. */
    static DockerImageName registry() {
        return official("apicurio/apicurio-registry:" + System.getProperty("apicurio.version", "3.3.3"));
    }

    /** A missing local image is an error at once: Docker would try to pull it for two minutes. */
    private static DockerImageName official(String name) {
        String prefix = prefix();
        if (!prefix.isEmpty() && !isThere(prefix + name)) {
            throw new IllegalStateException("there is no image " + prefix + name + "; run ops/containers/images");
        }
        return DockerImageName.parse(name);
    }

    private static String prefix() {
        return TestcontainersConfiguration.getInstance().getEnvVarOrProperty("hub.image.name.prefix", "");
    }

    /** The name by which this machine's daemon knows what Testcontainers calls {@code image}. */
    static String here(String image) {
        return prefix() + image;
    }

    /** Gives the local images their official names, for programs that know no prefix. */
    static void nameAsOfficial() {
        if (!prefix().isEmpty()) {
            for (DockerImageName image : List.of(kafka(), registry())) {
                client().tagImageCmd(here(image.asCanonicalNameString()), image.getUnversionedPart(), image.getVersionPart()).exec();
            }
        }
    }

    private static boolean isThere(String image) {
        try {
            client().inspectImageCmd(image).exec();
            return true;
        } catch (NotFoundException e) {
            return false;
        }
    }

    private static DockerClient client() {
        return DockerClientFactory.lazyClient();
    }

    /** Builds Tierlog's image as a release does, of the classes of this process, and returns its name. */
    static String tierlog(Path work) throws IOException {
        Path context = work.resolve("tierlog-image.tar");
        try (OutputStream file = new BufferedOutputStream(Files.newOutputStream(context), 1 << 20)) {
            pack(file, work);
        }
        try (InputStream in = Files.newInputStream(context)) {
            client().buildImageCmd(in)
                    .withBuildArg("BASE", prefix().isEmpty() ? JAVA_ELSEWHERE : JAVA_HERE)
                    // The training of a release takes minutes.
                    .withBuildArg("TRAINING", "acls print")
                    .withTags(Set.of(prefix() + TIERLOG))
                    .exec(new BuildImageResultCallback())
                    .awaitImageId(BUILD_MINUTES, TimeUnit.MINUTES);
        }
        Files.delete(context);
        return TIERLOG;
    }

    /** The directories of a release: {@code bin}, {@code lib} with what is on the class path, in its order, and {@code state}. */
    private static void pack(OutputStream out, Path work) throws IOException {
        Path root = Path.of(System.getProperty("tierlog.root"));
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out)) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
            add(tar, root.resolve("ops/deploy/image/Dockerfile"), "Dockerfile", 0644);
            add(tar, root.resolve("ops/packaging/src/dist/bin/tierlog"), "bin/tierlog", 0755);
            tar.putArchiveEntry(new TarArchiveEntry("state/"));
            tar.closeArchiveEntry();
            int number = 1_000;
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                Path path = Path.of(entry);
                if (!Files.exists(path) || TESTS_ONLY.stream().anyMatch(entry::contains)) {
                    continue;
                }
                String name = "lib/" + number++ + "-" + path.getFileName();
                if (Files.isDirectory(path)) {
                    Path jar = work.resolve("classes.jar");
                    writeJar(path, jar);
                    add(tar, jar, name + ".jar", 0644);
                    Files.delete(jar);
                } else {
                    add(tar, path, name, 0644);
                }
            }
        }
    }

    private static void writeJar(Path classes, Path jar) throws IOException {
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                JarEntry entry = new JarEntry(classes.relativize(file).toString());
                // The same bytes for the same classes: Docker keeps the layer.
                entry.setTime(0);
                out.putNextEntry(entry);
                Files.copy(file, out);
                out.closeEntry();
            }
        }
    }

    private static void add(TarArchiveOutputStream tar, Path file, String name, int mode) throws IOException {
        TarArchiveEntry entry = new TarArchiveEntry(name);
        entry.setSize(Files.size(file));
        entry.setMode(mode);
        tar.putArchiveEntry(entry);
        Files.copy(file, tar);
        tar.closeArchiveEntry();
    }
}
