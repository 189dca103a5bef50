/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A certificate authority of its own and certificates that it signs, for tests, made by the program openssl: the JDK's keytool takes a second for
 * each. Not for production: the keys lie in the open. For one thread.
 */
public final class Certificates {
    private static final long MOST_SECONDS = 30;

    private final Path directory;

    private Certificates(Path directory) {
        this.directory = directory;
    }

    /** Whether openssl is there. */
    public static boolean isPossible() {
        return Files.isExecutable(Path.of("/usr/bin/openssl"));
    }

    /** A new authority whose files lie in {@code directory}. */
    public static Certificates in(Path directory) throws IOException {
        Files.createDirectories(directory);
        Certificates made = new Certificates(directory);
        made.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
                "-days", "2", "-subj", "/CN=tierlog-test-authority");
        return made;
    }

    /** The authority's certificate, as PEM: what clients trust. */
    public Path authority() {
        return directory.resolve("ca.pem");
    }

    /**
     * A key and its certificate in one PEM file, valid for two days.
     *
     * @param name its common name
     * @param hosts as openssl takes them, {@code DNS:kafka-1} or {@code IP:127.0.0.1}; may be none
     */
    public Path certificate(String name, String... hosts) throws IOException {
        return certificate(name, 2, hosts);
    }

    /** As {@link #certificate}, but it has expired a day ago. */
    public Path expired(String name, String... hosts) throws IOException {
        return certificate(name, -1, hosts);
    }

    private Path certificate(String name, int days, String... hosts) throws IOException {
        String file = name + (days < 0 ? "-expired" : "");
        List<String> request = new ArrayList<>(List.of("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", file + ".key", "-out", file + ".csr", "-subj", "/CN=" + name));
        if (hosts.length > 0) {
            request.addAll(List.of("-addext", "subjectAltName=" + String.join(",", hosts)));
        }
        openssl(request.toArray(String[]::new));
        openssl("x509", "-req", "-in", file + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copyall",
                "-days", String.valueOf(days), "-out", file + ".crt");
        Path pem = directory.resolve(file + ".pem");
        Files.write(pem, (Files.readString(directory.resolve(file + ".key")) + Files.readString(directory.resolve(file + ".crt")))
                .getBytes(StandardCharsets.UTF_8));
        return pem;
    }

    /** The same key and certificate in a PKCS12 file. */
    public Path pkcs12(Path pem, String password) throws IOException {
        Path file = directory.resolve(pem.getFileName() + ".p12");
        openssl("pkcs12", "-export", "-in", pem.toString(), "-out", file.toString(), "-passout", "pass:" + password);
        return file;
    }

    private void openssl(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(Arrays.asList(arguments));
        Path log = directory.resolve("openssl.log");
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IOException("openssl " + String.join(" ", arguments) + " failed: " + Files.readString(log));
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
