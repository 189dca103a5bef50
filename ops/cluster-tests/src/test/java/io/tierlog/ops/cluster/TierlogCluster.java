/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.ExposedPort;
import com.github.dockerjava.api.model.PortBinding;
import com.github.dockerjava.api.model.Ports;
import com.github.dockerjava.api.model.Volume;
import com.google.protobuf.ByteString;
import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.registry.Credentials;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.ops.engine.EngineNode;
import io.tierlog.ops.engine.ProgressListener;
import io.tierlog.ops.engine.Replay;
import io.tierlog.ops.engine.ReplayConfig;
import io.tierlog.ops.engine.RunReport;
import io.tierlog.ops.engine.api.AgentAddress;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.ops.engine.workload.ConversationParameters;
import io.tierlog.ops.engine.workload.ConversationWorkload;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.engine.workload.WorkloadProfile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.utility.DockerImageName;

/**
 * Three brokers, a schema registry, two controllers, two directories and two agents, each in a container; all records have codes. The engine models
 * run in this process: they share memory files and sockets with the agents through a directory that all of them see under the same path. For one
 * thread.
 */
final class TierlogCluster implements AutoCloseable {
    static final int PARTITIONS = 4;
    static final List<String> NODES = List.of("a", "b");
    private static final int BLOCK_BYTES = 4_096;
    private static final int DEVICE_PAGES = 600;
    private static final int DISK_MEGABYTES = 512;
    private static final int REGISTRY_PORT = 8080;
    private static final int DIRECTORY_PORT = 8082;
    private static final String JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx320m";
    private static final String READY = "\"event\":\"ready\"";
    /** Engines wait longer than a log without a leader stands still. */
    private static final Timeouts PATIENT = new Timeouts(30_000, 1_000, 30_000, 60_000, 60_000, 60_000, 60_000, 50, 1_000);

    /** The checks of a test wait longer for a registry in a container of a busy machine than a command does, which can be repeated. */
    private static final RegistryLimits PATIENT_REGISTRY = new RegistryLimits(10_000, 30_000, 120_000, 3, 100, 2_000, 1 << 20, 10_000, 5_000);

    private final Path directory;
    private final Network network = Network.newNetwork();
    private final Access access;
    private final Brokers brokers;
    private final KafkaAccess auditor;
    private final Part registry;
    private final List<Part> controllers = new ArrayList<>();
    private final List<Part> agents = new ArrayList<>();
    private final List<Part> begun = new ArrayList<>();
    private final List<SmallDisk> disks = new ArrayList<>();
    private final String owner;
    private final boolean withDisks;
    private final int coreVersion;
    private String image = "";
    private final List<Part> directories = new ArrayList<>();
    private Codec codec;
    private int runs;

    /**
     * Starts everything, and makes the topics.
     *
     * @param directory shared with the agents
     * @param withDisks gives each broker, controller and directory and the store a small file system of its own, which can be full
     * @param coreVersion of the controllers
     */
    TierlogCluster(Path directory, boolean withDisks, int coreVersion) throws Exception {
        this.directory = directory;
        // What the agents make in the shared directory must be ours: their sockets open for their own user alone.
        this.owner = Files.getAttribute(directory, "unix:uid") + ":" + Files.getAttribute(directory, "unix:gid");
        this.access = new Access(directory.resolve("access"));
        this.withDisks = withDisks;
        this.coreVersion = coreVersion;
        this.brokers = new Brokers(network, access, brokerDisks());
        this.auditor = brokers.as(access.certificate("auditor"));
        this.registry = new Part("registry", Images.registry(), network, "Listening on: http", container -> expose(container, REGISTRY_PORT)
                .withEnv("APICURIO_DATASOURCE_URL", "jdbc:h2:file:/tmp/registry;WRITE_DELAY=0")); // its schemas outlive its process
        try {
            start();
        } catch (Exception | Error e) {
            close(); // nothing else ends containers that have started
            throw e;
        }
    }

    /** At a port of its own: one that Docker gives is another one after a restart. */
    private static GenericContainer<?> expose(GenericContainer<?> container, int inner) {
        try {
            PortBinding port = new PortBinding(Ports.Binding.bindIpAndPort("127.0.0.1", Brokers.freePort()), ExposedPort.tcp(inner));
            return container.withExposedPorts(inner)
                    .withCreateContainerCmdModifier(create -> Objects.requireNonNull(create.getHostConfig()).withPortBindings(port));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<SmallDisk> brokerDisks() throws IOException {
        List<SmallDisk> made = new ArrayList<>();
        for (int id = 1; withDisks && id <= Brokers.COUNT; id++) {
            made.add(disk(directory.resolve("kafka-" + id)));
        }
        return made;
    }

    private SmallDisk disk(Path place) throws IOException {
        SmallDisk disk = new SmallDisk(place, DISK_MEGABYTES, owner);
        disks.add(disk);
        return disk;
    }

    private void start() throws Exception {
        makeRecordKeys();
        makeToken();
        brokers.parts().forEach(this::begin);
        begin(registry);
        long start = System.nanoTime();
        image = Images.tierlog(directory);
        System.out.printf(Locale.ROOT, "Tierlog's image is built after %.1f s%n", (System.nanoTime() - start) / 1e9);
        for (int i = 1; i <= 2; i++) {
            controllers.add(controller(i, coreVersion));
            directories.add(tierlog("directory-" + i, directory(i), access.token("directory")));
        }
        for (String node : NODES) {
            agents.add(tierlog("agent-" + node, agent(node), node.equals(NODES.getFirst())
                    ? access.password("agent", Access.password("agent")) : access.pkcs12("agent")));
        }
        if (withDisks) {
            for (Part part : Stream.of(controllers, directories).flatMap(List::stream).toList()) {
                part.setDisk(disk(directory.resolve(part.name())));
            }
            SmallDisk store = disk(directory.resolve("store"));
            agents.forEach(part -> part.setDisk(store));
        }
        brokers.parts().forEach(Part::awaitReady);
        brokers.makeUsers(List.of("controller", "agent"));
        makeAclsAndTopics();
        registry.awaitReady();
        codec = new Codec(new RegistryClient(new RegistryConfig(List.of(URI.create(registryUrl())), Credentials.NONE, PATIENT_REGISTRY)));
        Stream.of(controllers, directories, agents).flatMap(List::stream).forEach(this::begin);
        Stream.of(controllers, directories, agents).flatMap(List::stream).forEach(Part::awaitReady);
    }

    /** By the commands that docs/cluster.md shows. */
    private void makeRecordKeys() throws IOException {
        Files.createDirectories(recordKeys("master").getParent());
        String master = recordKeys("master").toString();
        CommandRun.succeedsAlone(directory, "keys", "create", "--file", master, "--id", "k1");
        for (String node : NODES) {
            CommandRun.succeedsAlone(directory, "keys", "derive", "--file", master, "--node", node, "--out", recordKeys(node).toString());
        }
        for (String role : List.of("directory", "operator")) {
            CommandRun.succeedsAlone(directory, "keys", "derive", "--file", master, "--" + role, "--out", recordKeys(role).toString());
        }
    }

    /** The file of keys of a node or a role; {@code master} has those of the controllers. */
    Path recordKeys(String name) {
        return directory.resolve("record-keys").resolve(name);
    }

    private void begin(Part part) {
        begun.add(part);
        part.begin();
    }

    /** By the commands that docs/cluster.md shows: ACLs by the administrator, topics by the principal for this. */
    private void makeAclsAndTopics() throws IOException {
        List<String> apply = new ArrayList<>(List.of("acls", "apply"));
        Access.ROLES.forEach(role -> apply.addAll(List.of("--principal", role + "=User:" + role)));
        CommandRun.succeeds(this, access.certificate(Access.ADMIN), apply.toArray(String[]::new));
        CommandRun.succeeds(this, access.certificate("setup"), "topics", "create", "--partitions", String.valueOf(PARTITIONS),
                "--replication-factor", String.valueOf(Brokers.COUNT));
    }

    private Part tierlog(String name, List<String> arguments, Map<String, String> properties) throws IOException {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(List.of(
                "--bootstrap-servers", Brokers.insideServers(properties.containsKey("sasl.mechanism")),
                "--client-config", access.file(name, properties).toString(),
                "--registry-url", "http://registry:" + REGISTRY_PORT + "/apis/ccompat/v7",
                "--connect-timeout", "60",
                "--format", "json"));
        return new Part(name, DockerImageName.parse(image), network, READY, container -> settings(container, all, properties));
    }

    private void settings(GenericContainer<?> container, List<String> arguments, Map<String, String> properties) {
        String url = properties.get("sasl.oauthbearer.token.endpoint.url");
        String allowed = url == null ? "" : " -Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" + url;
        if (arguments.contains("--directory-listen")) {
            expose(container, DIRECTORY_PORT);
        }
        container.withCommand(arguments.toArray(String[]::new))
                .withEnv("TIERLOG_JAVA_OPTS", JAVA_OPTIONS + allowed)
                .withImagePullPolicy(_ -> false)
                .withCreateContainerCmdModifier(this::share);
    }

    /** By hand: withFileSystemBind first tries it with an image of its own, which would have to be pulled. */
    private void share(CreateContainerCmd create) {
        create.withUser(owner);
        Objects.requireNonNull(create.getHostConfig()).withBinds(new Bind(directory.toString(), new Volume(directory.toString())))
                .withReadonlyRootfs(true)
                // RocksDB unpacks its library there, and loads it.
                .withTmpFs(Map.of("/tmp", "exec,mode=1777"));
    }

    private Part controller(int number, int version) throws IOException {
        List<String> arguments = List.of("controller", "--state-dir", directory.resolve("controller-" + number).toString(), "--api-listen", "none",
                "--no-directory", "--record-keys", recordKeys("master").toString(), "--core-version", String.valueOf(version));
        return tierlog("controller-" + number, arguments, access.password("controller", Access.password("controller")));
    }

    /** Ends a controller and starts one of another core version on its state; it may not be ready yet. */
    Part replaceController(int number, int version) throws IOException {
        Part old = controllers.get(number - 1);
        old.end();
        old.close();
        begun.remove(old);
        Part started = controller(number, version);
        controllers.set(number - 1, started);
        begin(started);
        return started;
    }

    /** They ask each other with the token of a peer. */
    private List<String> directory(int number) {
        return List.of("directory", "--state-dir", directory.resolve("directory-" + number).toString(), "--instance-id", "directory-" + number,
                "--record-keys", recordKeys("directory").toString(),
                "--directory-listen", "0.0.0.0:" + DIRECTORY_PORT, "--directory-grpc-listen", "0.0.0.0:8083",
                "--directory-host", "directory-" + number,
                "--api-tokens", tokenRules().toString(), "--peer-token-file", token().toString());
    }

    private Path tokenRules() {
        return directory.resolve("directory-tokens");
    }

    /** The file with a token that the directories accept. */
    Path token() {
        return directory.resolve("directory-token");
    }

    private void makeToken() throws IOException, NoSuchAlgorithmException {
        String token = "a-token-of-the-cluster-tests";
        Files.writeString(token(), token);
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        Files.writeString(tokenRules(), "operator peer sha256:" + HexFormat.of().formatHex(hash) + "\n");
    }

    /** Where a directory is called from outside. */
    static String urlOf(Part directory) {
        return "http://127.0.0.1:" + directory.port(DIRECTORY_PORT);
    }

    private List<String> agent(String node) {
        return List.of(
                "agent", "--node", node,
                "--store", directory.resolve("store").toString(),
                "--host", "2048blocks",
                "--bytes-per-block", BLOCK_BYTES + "B",
                "--block-tokens", String.valueOf(workload(1).blockTokens()),
                "--registration-timeout", "60",
                "--no-tcp",
                "--record-keys", recordKeys(node).toString(),
                "--engine-socket", socket(node).toString());
    }

    private Path socket(String node) {
        return directory.resolve("engine-" + node);
    }

    private static Workload workload(int requests) {
        return ConversationWorkload.of(ConversationParameters.defaults().withRequests(requests));
    }

    /** Replays {@code requests} over both nodes in about {@code seconds}; every block that is reused is compared with what was computed. */
    RunReport run(int requests, int seconds) throws Exception {
        Workload workload = workload(requests);
        Path memory = Files.createDirectories(directory.resolve("memory-" + ++runs));
        ByteString digest = ByteString.copyFrom(Layouts.layoutDigest(Layouts.opaque(BLOCK_BYTES, workload.blockTokens())).asByteBuffer());
        List<EngineNode> nodes = NODES.stream().map(node -> new EngineNode(node, new AgentAddress.UnixSocket(socket(node)))).toList();
        double speed = WorkloadProfile.of(workload).durationMs() / (seconds * 1_000.0);
        ReplayConfig config = ReplayConfig.of(runName(runs), workload, nodes, new ReplayConfig.Device(memory, DEVICE_PAGES, BLOCK_BYTES, false),
                        new ReplayConfig.Identity("model", digest))
                .withPacing(new ReplayConfig.Pacing(4, OptionalDouble.of(speed), 0)) // states no cost: waits for as long as it may
                .withTimeouts(PATIENT);
        return Replay.run(config, ProgressListener.none());
    }

    /** The name of a run, which begins the ids of its requests; the first run is 1. */
    static String runName(int number) {
        return "run" + number;
    }

    int runs() {
        return runs;
    }

    /** Reads the log and may do no more. */
    KafkaAccess auditor() {
        return auditor;
    }

    /** Reaches the cluster with the certificate of {@code principal}. */
    KafkaAccess as(String principal) throws IOException {
        return brokers.as(access.certificate(principal));
    }

    Access access() {
        return access;
    }

    Path directory() {
        return directory;
    }

    String registryUrl() {
        return "http://127.0.0.1:" + registry.port(REGISTRY_PORT) + "/apis/ccompat/v7";
    }

    Codec codec() {
        return codec;
    }

    Brokers brokers() {
        return brokers;
    }

    List<Part> controllers() {
        return controllers;
    }

    List<Part> directories() {
        return directories;
    }

    Part registry() {
        return registry;
    }

    Part agentOf(String node) {
        return agents.get(NODES.indexOf(node));
    }

    List<Part> parts() {
        return List.copyOf(begun);
    }

    /** The last lines of every part, for messages. */
    String tails() {
        return begun.stream().map(part -> "--- " + part.name() + (part.isRunning() ? "" : " (not running)") + "\n" + part.tail())
                .collect(Collectors.joining("\n"));
    }

    /** Removes all containers, the network and the small disks. */
    @Override
    public void close() {
        begun.reversed().parallelStream().forEach(Part::close);
        network.close();
        for (SmallDisk disk : disks) {
            try {
                disk.close();
            } catch (RuntimeException e) {
                System.out.println("a small disk is left to ops/containers/docker-down: " + e.getMessage());
            }
        }
    }
}
