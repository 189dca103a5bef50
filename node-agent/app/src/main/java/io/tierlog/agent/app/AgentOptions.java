/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.agent.app.peer.PeerAddress;
import io.tierlog.agent.app.store.StoreLocation;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.Options;
import io.tierlog.events.config.TlsOptions;
import io.tierlog.traces.TraceOptions;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The options of an agent, each declared here and nowhere else. {@link AgentConfig} is made of their values. Static and without state. */
public final class AgentOptions {
    public static final String NODE = "node";
    public static final String STORE = "store";
    public static final String HOST = "host";
    public static final String BYTES_PER_BLOCK = "bytes.per.block";
    public static final String BLOCK_TOKENS = "block.tokens";
    public static final String LAYOUTS = "layouts";
    public static final String DISK = "disk";
    public static final String DISK_SIZE = "disk.size";
    public static final String DEVICE = "device";
    public static final String NODES_PER_INSTANCE = "nodes.per.instance";
    public static final String RANKS = "ranks";
    public static final String FSYNC = "fsync";
    public static final String PORT = "port";
    public static final String TCP = "tcp";
    public static final String ENGINE_SOCKET = "engine.socket";
    public static final String PREFETCH_WAIT_MS = "prefetch.wait.ms";
    public static final String PROMPT_BLOCKS = "prompt.blocks";
    public static final String PEER_LISTEN = "peer.listen";
    public static final String PEER_ADVERTISE = "peer.advertise";
    public static final String PEER_TOKEN_FILE = "peer.token.file";
    public static final String PEER_BYTES_PER_SECOND = "peer.bytes.per.second";
    public static final String DIRECTORY = "directory";
    public static final String DIRECTORY_TOKEN_FILE = "directory.token.file";
    public static final String STATUS_LISTEN = "agent.status.listen";
    public static final String READ_COMMITTED = "read.committed";
    public static final String REGISTRATION_TIMEOUT = "registration.timeout";

    private static final Pattern NODE_NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final Bounds ADDRESS = Bounds.form("HOST:PORT", PeerAddress::parse);

    private AgentOptions() {}

    /** All options, those of the log among them. */
    public static Options options() {
        return TraceOptions.declare(TlsOptions.declare(LogOptions.declare(new Options()
                .group("Node", Importance.HIGH)
                .required(NODE, Bounds.pattern("1 to 64 letters, digits, dots, dashes or underscores", NODE_NAME), "NAME",
                        "Name of the node: letters, digits, dots, dashes, underscores.")
                .option(DEVICE, ConfigDef.Type.STRING, "emulated", Bounds.form("emulated, cuda, or cuda:N", AgentConfig.Device::parse), "DEVICE",
                        "Memory in which the engines of this node keep their KV: emulated (files in shared memory), cuda, or cuda:N for GPU N.")
                .group("Tiers", Importance.HIGH)
                .required(STORE, Bounds.form(StoreLocation.FORMS, StoreLocation::parse), "URL",
                        "The shared store: a directory that all nodes see, s3://BUCKET/PREFIX or redis://HOST:PORT/DATABASE.")
                .option(HOST, ConfigDef.Type.STRING, "1GiB", Bounds.SIZE, "SIZE", "Host memory: bytes (64GiB) or blocks (4096blocks).")
                .text(DISK, Bounds.PATH, "DIR", "A directory of this node alone for the disk tier (default: no disk tier).")
                .text(DISK_SIZE, Bounds.SIZE, "SIZE", "Size of the disk tier, with --disk: bytes of KV (1TiB) or blocks (65536blocks).")
                .off(FSYNC, "A block counts as stored, and as copied to the disk, only when it survives a loss of power; slower.")
                .group("Blocks", Importance.HIGH)
                .option(BYTES_PER_BLOCK, ConfigDef.Type.STRING, "16KiB", Bounds.BYTES, "BYTES", "Size of a block, where --layouts is not given.")
                .number(BLOCK_TOKENS, Layouts.DEFAULT_BLOCK_TOKENS, 1, Integer.MAX_VALUE, "N",
                        "Tokens in a block, where --layouts is not given.")
                .text(LAYOUTS, Bounds.FILE, "FILE", "The KV layouts, as JSON; they give the size of a block (default: one opaque segment).")
                .number(NODES_PER_INSTANCE, 1, 1, Integer.MAX_VALUE, "N",
                        "Nodes that one engine instance spans; the controller accepts only 1.")
                .number(RANKS, 1, 1, Integer.MAX_VALUE, "N", "Tensor-parallel ranks on this node.")
                .group("Engine API", Importance.MEDIUM)
                .number(PORT, 7070, 0, 65_535, "PORT", "Port of the engine API on loopback, 0 for any free one.")
                .on(TCP, "Whether the engine API has a port (default: yes).")
                .text(ENGINE_SOCKET, Bounds.PATH, "PATH",
                        "A Unix socket for the engine API, which only this user can open; next to the port, or instead of it with --no-tcp.")
                .number(PREFETCH_WAIT_MS, 200, 0, Integer.MAX_VALUE, "MS", "Longest time a request waits for a fetch.")
                .number(PROMPT_BLOCKS, AgentLimits.KEYS_PER_REQUEST, 1, AgentLimits.MOST_KEYS_PER_REQUEST, "N",
                        "Blocks of a prompt that are looked up, loaded and saved, from the first on; the rest is left to the engine.")
                .group("Peer reads", Importance.MEDIUM)
                .text(PEER_LISTEN, ADDRESS, "HOST:PORT", "Address at which the agents of other nodes may read blocks from this one (default: none)."
                        + " Without --peer-token-file only loopback.")
                .text(PEER_ADVERTISE, ADDRESS, "HOST:PORT", "Address of the peer API that other nodes receive (default: that of --peer-listen).")
                .text(PEER_TOKEN_FILE, Bounds.FILE, "FILE", "A file with the token that all agents share, 16 to 512 characters.")
                .text(PEER_BYTES_PER_SECOND, Bounds.BYTES, "SIZE", "Most bytes sent to other nodes in a second (default: no limit).")
                .text(DIRECTORY, ADDRESS, "HOST:PORT", "gRPC address of a directory, which answers which other nodes have the blocks of a prompt"
                        + " (default: none, and the agent reads nothing from other nodes). A controller's directory listens on 127.0.0.1:8083 by"
                        + " default.")
                .text(DIRECTORY_TOKEN_FILE, Bounds.FILE, "FILE", "A file with a reader's token for the directory, where it requires one.")
                .group("Metrics", Importance.MEDIUM)
                .text(STATUS_LISTEN, Bounds.form("HOST:PORT", Endpoint::parse), "HOST:PORT",
                        "Address of /metrics and /health, port 0 for any free one (default: none).")
                .group("Registration", Importance.MEDIUM)
                .off(READ_COMMITTED, "Read commands only after the controller's transaction has committed; slower.")
                .number(REGISTRATION_TIMEOUT, 15, 0, 86_400, "SECONDS", "Time to retry while another process is registered for the node."))));
    }
}
