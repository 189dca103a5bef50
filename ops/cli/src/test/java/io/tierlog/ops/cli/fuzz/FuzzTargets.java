/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.fuzz;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.tierlog.agent.app.store.DirectoryStore;
import io.tierlog.agent.app.store.ObjectName;
import io.tierlog.agent.bridge.decode.BatchDecoder;
import io.tierlog.agent.bridge.decode.CacheEventDecoder;
import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.BlockRead;
import io.tierlog.agent.disk.BlockWrite;
import io.tierlog.agent.disk.DiskLimits;
import io.tierlog.agent.disk.DiskTierException;
import io.tierlog.agent.disk.FileSegmentIo;
import io.tierlog.agent.disk.ForcePolicy;
import io.tierlog.agent.disk.HeldBlock;
import io.tierlog.agent.disk.Namespace;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.ServerLimits;
import io.tierlog.controller.http.oidc.OidcRefusedException;
import io.tierlog.controller.http.oidc.OidcRules;
import io.tierlog.controller.http.oidc.OidcTokens;
import io.tierlog.events.Codec;
import io.tierlog.events.RecordReader;
import io.tierlog.events.Schemas;
import io.tierlog.events.registry.Credentials;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryException;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.events.registry.UnknownSchemaIdException;
import io.tierlog.events.registry.UnreadableSchemaException;
import io.tierlog.events.sign.RecordKeys;
import io.tierlog.ops.engine.workload.TraceError;
import io.tierlog.ops.engine.workload.TraceFile;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.ops.simulation.scenario.Scenario;
import io.tierlog.ops.simulation.scenario.ScenarioError;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.EllipticCurveJsonWebKey;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.lang.JoseException;

/** All decoders of bytes that another process, a person or a disk wrote. Its parts are closed with it. */
final class FuzzTargets implements AutoCloseable {
    private static final Path ROOT = Path.of(System.getProperty("tierlog.root"));
    private static final int BLOCK_BYTES = 256;
    private static final String TOPIC = "fuzz";

    private final Path directory;
    private final List<Runnable> parts = new ArrayList<>();
    private final List<FuzzTarget> all = new ArrayList<>();
    private final GrpcTargets calls;

    /** @param directory for files, empty */
    FuzzTargets(Path directory) throws Exception {
        this.directory = directory;
        records();
        add("policy document", files("ops/examples", ".yaml"), PolicyDocument::read, Set.of());
        file("trace file", List.of("{\"timestamp\": 0, \"input_length\": 1024, \"output_length\": 10, \"hash_ids\": [1, 2]}\n"
                + "{\"timestamp\": 7, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [1, 3]}\n"),
                path -> TraceFile.read(path, OptionalInt.empty()), Set.of(TraceError.class));
        add("scenario file", files("ops/simulation/scenarios", ".jsonl"),
                input -> Scenario.check(List.of(new String(input, StandardCharsets.UTF_8).split("\n"))), Set.of(ScenarioError.class));
        add("engine events", files("node-agent/bridge/src/test/resources/engine-events", ".hex").stream().map(FuzzTargets::hex).toList(),
                BatchDecoder::decode, Set.of());
        add("events of LMCache", List.of("""
                {"batches": [{"instance_id": "i", "incarnation": 7, "seq": 1, "event_type": "store", "tier": "l1", "backend": "dram", "shared": false,
                "ts": 1.5, "dropped_events": 0, "entries": [{"key": {"chunk_hash_hex": "00ff00ff00ff00ff", "model_name": "m", "kv_rank": 16777472,
                "object_group_id": 0, "cache_salt": "s"}, "size_bytes": 9, "token_ids": [1, 2], "token_offset": 4, "parent_hash_hex": ""}]}]}
                """.getBytes(StandardCharsets.UTF_8)), CacheEventDecoder::decode, Set.of());
        requestBodies();
        file("record keys", List.of("a " + "01".repeat(32) + "\n# old\nb " + "02".repeat(32) + "\n"), RecordKeys::read,
                Set.of(IllegalArgumentException.class));
        providerTokens();
        storeObjects();
        diskSegments();
        registryAnswers();
        calls = new GrpcTargets(directory);
        all.addAll(calls.all());
    }

    /** The targets that are calls of gRPC. */
    GrpcTargets calls() {
        return calls;
    }

    List<FuzzTarget> all() {
        return all;
    }

    private void add(String name, List<byte[]> corpus, FuzzTarget.Decoder decoder, Set<Class<? extends Exception>> refusals) {
        all.add(new FuzzTarget(name, corpus, refusals, 32L << 20, decoder));
    }

    /** Reads a file. */
    @FunctionalInterface
    private interface Reader {
        void read(Path file) throws Exception;
    }

    private void file(String name, List<String> corpus, Reader reader, Set<Class<? extends Exception>> refusals) {
        Path file = directory.resolve(name.replace(' ', '-'));
        add(name, corpus.stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toList(), input -> {
            Files.write(file, input);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            reader.read(file);
        }, refusals);
    }

    private static List<byte[]> files(String directory, String ending) throws IOException {
        try (Stream<Path> found = Files.list(ROOT.resolve(directory))) {
            List<byte[]> contents = new ArrayList<>();
            for (Path path : found.filter(path -> path.toString().endsWith(ending)).sorted().toList()) {
                contents.add(Files.readAllBytes(path));
            }
            return contents;
        }
    }

    private static byte[] hex(byte[] text) {
        return Bytes.ofHex(new String(text, StandardCharsets.US_ASCII).replaceAll("\\s", "")).unshared();
    }

    /** Every type of every topic, with the samples of the compatibility gate. */
    private void records() throws IOException {
        Codec codec = new Codec(Schemas.bundled());
        for (Class<? extends WireRecord> family : Schemas.families()) {
            List<byte[]> corpus = new ArrayList<>();
            for (WireType<?> type : WireType.ofFamily(family)) {
                for (String line : Files.readAllLines(ROOT.resolve("schemas/src/test/resources/golden/" + type.fullName() + ".hex"))) {
                    if (!line.startsWith("schema ")) {
                        corpus.add(codec.frame(TOPIC, type.schema(), Bytes.ofHex(line.substring(line.indexOf(' ') + 1)).unshared()));
                    }
                }
            }
            RecordReader<? extends WireRecord> reader = codec.reader(family);
            add("records of " + family.getSimpleName(), corpus, reader::read, Set.of());
        }
    }

    private void requestBodies() {
        ObjectMapper mapper = JsonBody.mapper(new ServerLimits(1 << 20, 8, 1));
        byte[] body = ("{\"id\": \"m1\", \"nodes\": [\"n1\"], \"namespace\": \"ns\", \"keys\": [\"" + "ab".repeat(32)
                + "\", 7], \"key\": \"" + "cd".repeat(16) + "\", \"min_age_ms\": 5, \"dry_run\": true, \"sample\": {\"count\": 1},"
                + " \"blocks\": [{\"namespace\": \"a\", \"key\": \"00\"}], \"tokens\": [1, 2, 3]}").getBytes(StandardCharsets.UTF_8);
        add("request body", List.of(body), input -> {
            JsonBody read = JsonBody.of(mapper, input);
            read.text("namespace", 100);
            read.name("id", "[a-z0-9]+", "an id");
            read.names("nodes", 10, "[a-z0-9]+", "a node");
            read.keys("keys", 10, 8, 32);
            read.key("key", 8, 32);
            read.integer("min_age_ms", 0, 1_000);
            read.flag("dry_run");
            read.integers("tokens", 100);
            read.object("sample").ifPresent(sample -> sample.integer("count", 1, 10));
            read.objects("blocks", 10).forEach(block -> block.text("namespace", 10));
            read.done();
        }, Set.of(Problem.class));
    }

    private void providerTokens() throws IOException, JoseException {
        EllipticCurveJsonWebKey key = EcJwkGenerator.generateJwk(EllipticCurves.P256);
        key.setKeyId("k");
        Path keys = Files.writeString(directory.resolve("keys.json"),
                "{\"keys\":[" + key.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY) + "]}");
        JwtClaims claims = new JwtClaims();
        claims.setIssuer("i");
        claims.setAudience("a");
        claims.setSubject("s");
        claims.setStringListClaim("roles", "r");
        claims.setExpirationTimeMinutesInTheFuture(1_000_000);
        JsonWebSignature jwt = new JsonWebSignature();
        jwt.setAlgorithmHeaderValue("ES256");
        jwt.setKeyIdHeaderValue("k");
        jwt.setKey(key.getPrivateKey());
        jwt.setPayload(claims.toJson());
        OidcTokens tokens = new OidcTokens(new OidcRules("i", "a", keys.toString(), "roles", "o", "r", Optional.empty()), HttpClient.newBuilder());
        parts.add(tokens::close);
        add("token of a provider", List.of(jwt.getCompactSerialization().getBytes(StandardCharsets.US_ASCII)),
                input -> tokens.verify(new String(input, StandardCharsets.ISO_8859_1)), Set.of(OidcRefusedException.class));
        file("TLS files", List.of("-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----\n"
                + "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUY\n-----END CERTIFICATE-----\n"),
                path -> Tls.of(TlsFiles.ofClient(Optional.of(path), Optional.of(path), Optional.empty())), Set.of(IllegalArgumentException.class));
    }

    private void storeObjects() throws IOException {
        DirectoryStore store = DirectoryStore.open(directory.resolve("store"), DirectoryStore.Options.DEFAULTS);
        parts.add(store::close);
        ObjectName name = new ObjectName(ObjectName.digest("ns"), Bytes.ofHex("ab".repeat(16)));
        store.write(name, ByteBuffer.allocateDirect(BLOCK_BYTES), 0);
        CRC32C crc = new CRC32C();
        crc.update(new byte[BLOCK_BYTES]);
        store.write(name, ByteBuffer.allocateDirect(BLOCK_BYTES), (int) crc.getValue());
        Path object;
        try (Stream<Path> found = Files.walk(directory.resolve("store"))) {
            object = found.filter(path -> Files.isRegularFile(path) && path.toFile().length() >= BLOCK_BYTES).findFirst().orElseThrow();
        }
        byte[] valid = Files.readAllBytes(object);
        ByteBuffer into = ByteBuffer.allocateDirect(BLOCK_BYTES);
        add("store object", List.of(valid), input -> {
            Files.createDirectories(object.getParent());
            Files.write(object, input);
            store.check(name, BLOCK_BYTES);
            into.clear();
            store.read(name, into);
        }, Set.of());
    }

    private void diskSegments() throws IOException {
        DiskLimits limits = new DiskLimits(new DiskLimits.Space(1 << 20, 0, 1 << 16, 4_096), new DiskLimits.Blocks(64, BLOCK_BYTES, 64, 4),
                new DiskLimits.Work(1, 1, 16, 1 << 20, 4, 2), new DiskLimits.Compaction(50, 1 << 20), ForcePolicy.NEVER);
        Path made = Files.createDirectories(directory.resolve("disk"));
        MemorySegment memory = Arena.global().allocate(BLOCK_BYTES);
        CRC32C crc = new CRC32C();
        crc.update(new byte[BLOCK_BYTES]);
        try (BlockFile file = open(made, limits)) {
            for (int i = 1; i <= 3; i++) {
                Bytes key = Bytes.ofHex(String.format("%02x", i).repeat(16));
                file.write(Namespace.of("ns"), List.of(new BlockWrite(key, new BlockWrite.Position(0, Bytes.ofHex(""), key), List.of(memory),
                        (int) crc.getValue())));
            }
        }
        Path segment;
        try (Stream<Path> found = Files.list(made)) {
            segment = found.filter(path -> path.toFile().length() >= 4_096).findFirst().orElseThrow();
        }
        // What follows the three blocks is empty; the rest of the segment is made again for each input.
        byte[] valid = Arrays.copyOf(Files.readAllBytes(segment), 6 * 4_096);
        add("disk segment", List.of(valid), input -> {
            Files.write(segment, Arrays.copyOf(input, 1 << 16));
            try (BlockFile file = open(made, limits)) {
                for (HeldBlock held : file.held(BlockFile.Cursor.START, 64).blocks()) {
                    file.read(Namespace.of(held.namespace()), List.of(new BlockRead(held.key(), 0, List.of(memory.asSlice(0, held.length())))));
                }
            }
        }, Set.of(DiskTierException.class, IOException.class));
    }

    private static BlockFile open(Path directory, DiskLimits limits) throws IOException {
        return BlockFile.open(FileSegmentIo.open(directory, 4_096), limits, sofar -> {});
    }

    private void registryAnswers() throws IOException {
        AtomicReference<byte[]> served = new AtomicReference<>(new byte[0]);
        HttpServer registry = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        registry.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, served.get().length == 0 ? -1 : served.get().length);
            exchange.getResponseBody().write(served.get());
            exchange.close();
        });
        registry.start();
        parts.add(() -> registry.stop(0));
        RegistryLimits limits = new RegistryLimits(2_000, 5_000, 15_000, 2, 1, 1, 1 << 16, 16, 0);
        RegistryClient client = new RegistryClient(
                new RegistryConfig(List.of(URI.create("http://127.0.0.1:" + registry.getAddress().getPort())), Credentials.NONE, limits));
        parts.add(client::close);
        AtomicInteger id = new AtomicInteger();
        String schema = Schemas.current().getFirst().toString();
        add("registry answer", List.of(new ObjectMapper().createObjectNode().put("schema", schema).put("id", 7).toString()
                .getBytes(StandardCharsets.UTF_8)), input -> {
            served.set(input);
            client.byId(id.incrementAndGet());
        }, Set.of(RegistryException.class, UnknownSchemaIdException.class, UnreadableSchemaException.class, RegistryUnavailableException.class));
    }

    @Override
    public void close() {
        for (Runnable part : parts) {
            part.run();
        }
        calls.close();
    }
}
