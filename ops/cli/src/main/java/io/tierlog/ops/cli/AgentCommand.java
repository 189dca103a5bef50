/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.AgentEnd;
import io.tierlog.agent.app.DeviceUnavailableException;
import io.tierlog.agent.app.DiskUnavailableException;
import io.tierlog.agent.app.Layouts;
import io.tierlog.agent.app.LayoutsFile;
import io.tierlog.agent.app.engine.EngineAddress;
import io.tierlog.agent.app.engine.EngineServerException;
import io.tierlog.agent.app.memory.HostMemoryException;
import io.tierlog.agent.app.peer.DirectoryPeers;
import io.tierlog.agent.app.peer.PeerAddress;
import io.tierlog.agent.app.peer.PeerLimits;
import io.tierlog.agent.app.peer.PeerToken;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.disk.ForcePolicy;
import io.tierlog.ops.cli.demo.Size;
import io.tierlog.ops.cli.demo.SizeConverter;
import io.tierlog.schemas.Layout;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog agent}: the agent of one node, in the foreground. */
@Command(
        name = "agent",
        description = "Run the agent of one node.",
        footer = {
            "",
            "It runs until Ctrl-C. Engines on the same machine connect to its door (gRPC). One process speaks for a node: a second one with the same",
            "name is refused while the first is alive, and keeps asking for --registration-timeout seconds."
        })
final class AgentCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Option(names = "--node", required = true, paramLabel = "NAME", description = "Name of the node: letters, digits, dots, dashes, underscores.")
    String node = "";

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = "Where the engines of this node keep their KV: emulated (files in shared memory), cuda, or cuda:N for GPU N"
                    + " (default: ${DEFAULT-VALUE}).")
    String device = "emulated";

    @Option(names = "--disk", paramLabel = "DIR", description = "A directory of this node alone for the disk tier (default: no disk tier).")
    @Nullable Path disk;

    @Option(
            names = "--disk-size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Size of the disk tier, with --disk: bytes of KV (1TiB) or blocks (65536blocks).")
    @Nullable Size diskSize;

    @Option(names = "--store", required = true, paramLabel = "DIR", description = "The shared store: a directory that all nodes see.")
    Path store = Path.of("store");

    @Option(
            names = "--host",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Host memory: bytes (64GiB) or blocks (4096blocks) (default: 1GiB).")
    Size host = new Size.OfBytes(1 << 30);

    @Option(
            names = "--bytes-per-block",
            paramLabel = "BYTES",
            converter = SizeConverter.class,
            description = "Size of a block, where --layouts is not given (default: 16KiB).")
    Size bytesPerBlock = new Size.OfBytes(16 << 10);

    @Option(names = "--block-tokens", paramLabel = "N", description = "Tokens in a block, where --layouts is not given (default: ${DEFAULT-VALUE}).")
    int blockTokens = Layouts.DEFAULT_BLOCK_TOKENS;

    @Option(names = "--layouts", paramLabel = "FILE", description = "The KV layouts, as JSON; they give the size of a block.")
    @Nullable Path layouts;

    @Option(
            names = "--nodes-per-instance",
            paramLabel = "N",
            description = "Nodes that one engine instance spans; only 1 can be served (default: ${DEFAULT-VALUE}).")
    int nodesPerInstance = 1;

    @Option(names = "--ranks", paramLabel = "N", description = "Tensor-parallel ranks on this node (default: ${DEFAULT-VALUE}).")
    int ranks = 1;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Port of the engine door on loopback, 0 for any free one (default: ${DEFAULT-VALUE}).")
    int port = 7070;

    @Option(
            names = "--door-socket",
            paramLabel = "PATH",
            description = "A Unix socket for the engine door, which only this user can open; next to the port, or instead of it with --no-tcp.")
    @Nullable Path doorSocket;

    @Option(
            names = "--tcp",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description = "Whether the engine door has a port (default: yes).")
    boolean tcp = true;

    @Option(
            names = "--peer-listen",
            paramLabel = "HOST:PORT",
            description = "Where the agents of other nodes may read blocks from this one (default: nowhere)."
                    + " Without --peer-token-file only loopback.")
    @Nullable String peerListen;

    @Option(
            names = "--peer-advertise",
            paramLabel = "HOST:PORT",
            description = "The address of the peer door that other nodes are told (default: that of --peer-listen).")
    @Nullable String peerAdvertise;

    @Option(
            names = "--peer-token-file",
            paramLabel = "FILE",
            description = "A file with the token that all agents share, 16 to 512 characters.")
    @Nullable Path peerTokenFile;

    @Option(
            names = "--peer-bytes-per-second",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Most bytes that are sent to other nodes in a second (default: as many as they take).")
    @Nullable Size peerRate;

    @Option(
            names = "--directory",
            paramLabel = "HOST:PORT",
            description = "The gRPC door of a directory, which is asked who else has the blocks of a prompt (default: none, and nothing is read"
                    + " from other nodes). A controller's directory listens on 127.0.0.1:8083 unless told otherwise.")
    @Nullable String directory;

    @Option(
            names = "--directory-token-file",
            paramLabel = "FILE",
            description = "A file with a reader's token for the directory, where it asks for one.")
    @Nullable Path directoryTokenFile;

    @Option(names = "--prefetch-wait-ms", paramLabel = "MS", description = "Longest time a request waits for a fetch (default: ${DEFAULT-VALUE}).")
    int prefetchWaitMs = 200;

    @Option(names = "--fsync", description = "A block counts as stored, and as copied to the disk, only when it survives a loss of power; slower.")
    boolean fsync;

    @Option(names = "--read-committed", description = "Read commands only after the controller's transaction has committed; slower.")
    boolean readCommitted;

    @Option(
            names = "--registration-timeout",
            paramLabel = "SECONDS",
            description = "How long to ask while another process speaks for the node (default: ${DEFAULT-VALUE}).")
    int registrationSeconds = 15;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Integer call() throws Exception {
        AgentConfig config = ClusterOptions.checked(this::config);
        try (AgentApp app = start(config)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println(ready(app));
            out.flush();
            app.registered().thenAccept(incarnation -> {
                if (format == OutputFormat.text) {
                    out.println("Registered as incarnation " + incarnation + ".");
                    out.flush();
                }
            });
            throw Foreground.untilSignalled(app, app.ended().thenApply(AgentCommand::error));
        }
    }

    private AgentConfig config() {
        List<Layout> groups = layouts == null ? Layouts.opaque(bytes("--bytes-per-block", bytesPerBlock), blockTokens) : LayoutsFile.read(layouts);
        AgentConfig.Builder builder = AgentConfig.of(node, cluster.kafka(), store)
                .with()
                .topics(cluster.topics())
                .memory(host.toBlocks(Layouts.blockBytes(groups), 0), groups)
                .device(AgentConfig.Device.parse(device))
                .door(address())
                .parallelism(nodesPerInstance, ranks)
                .fsync(fsync)
                .readCommitted(readCommitted)
                .times(new AgentConfig.Times(Duration.ofSeconds(registrationSeconds), AgentConfig.Times.DEFAULTS.stop()))
                .limits(AgentLimits.defaults().withPrefetchWaitMs(prefetchWaitMs));
        if ((disk == null) != (diskSize == null)) {
            throw new IllegalArgumentException("--disk and --disk-size go together");
        }
        if (disk != null && diskSize != null) {
            builder.disk(new AgentConfig.Disk(
                    disk, diskSize.toBlocks(Layouts.blockBytes(groups), 0), fsync ? ForcePolicy.PER_BATCH : ForcePolicy.NEVER));
        }
        cluster.registry().ifPresent(builder::registry);
        if (peerListen != null || peerAdvertise != null || peerTokenFile != null || directory != null || directoryTokenFile != null) {
            builder.peers(peers());
        }
        return builder.build();
    }

    private AgentConfig.Peers peers() {
        if (directory == null && directoryTokenFile != null) {
            throw new IllegalArgumentException("--directory-token-file is for a directory; give --directory too");
        }
        Optional<DirectoryPeers.Access> asked = Optional.ofNullable(directory).map(address -> new DirectoryPeers.Access(
                PeerAddress.parse(address), Optional.ofNullable(directoryTokenFile).map(PeerToken::read)));
        PeerLimits limits = PeerLimits.DEFAULTS;
        if (peerRate != null) {
            limits = limits.withBytesPerSecond(bytes("--peer-bytes-per-second", peerRate));
        }
        return new AgentConfig.Peers(
                Optional.ofNullable(peerListen).map(PeerAddress::parse), Optional.ofNullable(peerTokenFile).map(PeerToken::read),
                Optional.ofNullable(peerAdvertise).map(PeerAddress::parse), asked, limits);
    }

    private EngineAddress address() {
        if (!tcp && doorSocket == null) {
            throw new IllegalArgumentException("--no-tcp goes with --door-socket: engines must find the door somewhere");
        }
        return new EngineAddress(tcp ? OptionalInt.of(port) : OptionalInt.empty(), Optional.ofNullable(doorSocket));
    }

    private static long bytes(String option, Size size) {
        return switch (size) {
            case Size.OfBytes(long bytes) -> bytes;
            case Size.OfBlocks _, Size.OfShare _ -> throw new IllegalArgumentException(option + " is a number of bytes, for example 16KiB");
        };
    }

    private static AgentApp start(AgentConfig config) {
        try {
            return ClusterOptions.checked(() -> AgentApp.start(config));
        } catch (EngineServerException e) {
            String hint = "choose another --port, or 0 for any free one, or another --door-socket";
            throw new CliError(String.valueOf(e.getMessage()), hint, CliError.BAD_INPUT, e);
        } catch (DeviceUnavailableException e) {
            throw new CliError(String.valueOf(e.getMessage()), "give another one with --device; emulated needs no GPU", CliError.BAD_INPUT, e);
        } catch (DiskUnavailableException e) {
            throw new CliError(String.valueOf(e.getMessage()), "give another directory with --disk", CliError.BAD_INPUT, e);
        } catch (HostMemoryException e) {
            throw new CliError(String.valueOf(e.getMessage()), "give less with --host", CliError.BAD_INPUT, e);
        }
    }

    private static Throwable error(AgentEnd end) {
        return switch (end.kind()) {
            case REFUSED -> new CliError(end.detail(), "nothing was changed; look at --node and --layouts", CliError.BAD_INPUT);
            case FENCED -> new CliError(end.detail(), "another process speaks for the node: stop one of them", CliError.BAD_INPUT);
            case STOPPED, FAILED -> new CliError(end.detail(), "look at the log with --verbose", CliError.FAILURE);
        };
    }

    private String ready(AgentApp app) throws Exception {
        return switch (format) {
            case text -> "Agent of node " + app.node() + " is up, engines connect to " + where(app) + ". Ctrl-C stops it.";
            case json -> {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("event", "ready");
                line.put("node", app.node());
                if (tcp) {
                    line.put("port", app.enginePort());
                }
                if (doorSocket != null) {
                    line.put("socket", doorSocket.toString());
                }
                line.put("pid", ProcessHandle.current().pid());
                yield new ObjectMapper().writeValueAsString(line);
            }
        };
    }

    private String where(AgentApp app) {
        String port = tcp ? "127.0.0.1:" + app.enginePort() : "";
        String socket = doorSocket == null ? "" : "unix:" + doorSocket.toAbsolutePath();
        return tcp && doorSocket != null ? port + " or " + socket : port + socket;
    }
}
