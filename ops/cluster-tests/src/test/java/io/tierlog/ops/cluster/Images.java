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
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.TestcontainersConfiguration;

/**
 * The images of the tests: official ones by their names, and Tierlog's own, which is made here of the class path of this process. Where there is no
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

    /** Builds Tierlog's image and returns its name. Its command is {@code tierlog}, without a subcommand. */
    static String tierlog(Path work) throws IOException {
        Path context = work.resolve("tierlog-image.tar");
        try (OutputStream file = new BufferedOutputStream(Files.newOutputStream(context), 1 << 20)) {
            pack(file);
        }
        try (InputStream in = Files.newInputStream(context)) {
            client().buildImageCmd(in)
                    .withBuildArg("BASE", prefix().isEmpty() ? JAVA_ELSEWHERE : JAVA_HERE)
                    .withTags(Set.of(prefix() + TIERLOG))
                    .exec(new BuildImageResultCallback())
                    .awaitImageId(BUILD_MINUTES, TimeUnit.MINUTES);
        }
        Files.delete(context);
        return TIERLOG;
    }

    /** Libraries and Tierlog's own classes in directories of their own, so that the libraries' layer is built once. */
    private static void pack(OutputStream out) throws IOException {
        StringBuilder classPath = new StringBuilder();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out)) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
            Path root = Path.of(System.getProperty("tierlog.root"));
            int number = 0;
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                Path path = Path.of(entry);
                if (!Files.exists(path) || TESTS_ONLY.stream().anyMatch(entry::contains)) {
                    continue;
                }
                String name = (path.startsWith(root) ? "app/" : "libs/") + number++ + "-" + path.getFileName();
                classPath.append("/tierlog/").append(name).append(':');
                if (Files.isDirectory(path)) {
                    addAll(tar, path, name);
                } else {
                    add(tar, path, name);
                }
            }
            add(tar, "app/empty", new byte[0]);
            String dockerfile = """
                    ARG BASE
                    FROM ${BASE}
                    COPY libs /tierlog/libs
                    COPY app /tierlog/app
                    ENTRYPOINT ["java", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-XX:TieredStopAtLevel=1", \
                    "-XX:+UseSerialGC", "-Xmx320m", "-cp", "%s", "io.tierlog.ops.cli.Main"]
                    """.formatted(classPath);
            add(tar, "Dockerfile", dockerfile.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void addAll(TarArchiveOutputStream tar, Path directory, String name) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            files.filter(Files::isRegularFile).forEach(file -> {
                try {
                    add(tar, file, name + "/" + directory.relativize(file));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    private static void add(TarArchiveOutputStream tar, Path file, String name) throws IOException {
        TarArchiveEntry entry = new TarArchiveEntry(name);
        entry.setSize(Files.size(file));
        tar.putArchiveEntry(entry);
        Files.copy(file, tar);
        tar.closeArchiveEntry();
    }

    private static void add(TarArchiveOutputStream tar, String name, byte[] bytes) throws IOException {
        TarArchiveEntry entry = new TarArchiveEntry(name);
        entry.setSize(bytes.length);
        tar.putArchiveEntry(entry);
        tar.write(bytes);
        tar.closeArchiveEntry();
    }
}
