/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.ops.process.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** Adobe's S3Mock, a server of S3 for tests, as a process of its own: its many libraries stay off the class path. One thread. */
public final class S3Mock implements AutoCloseable {
    /** The bucket that is there from the start. */
    public static final String BUCKET = "blocks";

    private static final Path PROGRAM = Path.of(System.getProperty("tierlog.root", "../.."), "node-agent/app/target/s3mock/s3mock.jar");

    private final ChildProcess process;
    private final int port;

    private S3Mock(ChildProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts one that answers when this returns; skips the test where the build has not fetched it. */
    public static S3Mock start(Path directory) throws IOException, InterruptedException {
        Assumptions.assumeTrue(Files.isReadable(PROGRAM), "NOT RUN: needs S3Mock, which mvn fetches into " + PROGRAM);
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        // The client finds its credentials at the end of the usual chain.
        System.setProperty("aws.accessKeyId", "test");
        System.setProperty("aws.secretAccessKey", "test");
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                "-jar", PROGRAM.toString(), "--server.port=0", "--http.port=" + port, "--com.adobe.testing.s3mock.store.initialBuckets=" + BUCKET,
                "--com.adobe.testing.s3mock.store.root=" + directory.toAbsolutePath());
        Files.createDirectories(directory);
        ChildProcess process = ChildProcess.program("S3Mock", command).readyWhen(line -> line.contains("Started S3MockApplication")).start();
        try {
            process.awaitReady(Duration.ofSeconds(120));
            return new S3Mock(process, port);
        } catch (RuntimeException e) {
            process.kill();
            throw e;
        }
    }

    /** Port on loopback. */
    public int port() {
        return port;
    }

    /** What {@code --store} names, with a prefix of its own. */
    public String url(int at, String prefix) {
        return "s3://" + BUCKET + "/" + prefix + "?endpoint=http://127.0.0.1:" + at;
    }

    /** A client beside the store. */
    public S3Client client() {
        return S3Client.builder()
                .endpointOverride(URI.create("http://127.0.0.1:" + port))
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
                .httpClientBuilder(Apache5HttpClient.builder())
                .build();
    }

    @Override
    public void close() {
        process.close();
    }
}
