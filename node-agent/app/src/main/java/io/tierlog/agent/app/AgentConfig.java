/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.engine.EngineAddress;
import io.tierlog.agent.app.engine.EngineApiLimits;
import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.agent.app.log.EventBuffer;
import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.memory.EmulatedDevice;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.app.peer.DirectoryPeers;
import io.tierlog.agent.app.peer.PeerAddress;
import io.tierlog.agent.app.peer.PeerLimits;
import io.tierlog.agent.app.peer.PeerToken;
import io.tierlog.agent.app.store.StoreLocation;
import io.tierlog.agent.app.store.StoreWorkers;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.cuda.CudaLimits;
import io.tierlog.agent.disk.ForcePolicy;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.events.config.Size;
import io.tierlog.events.config.TlsOptions;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Layout;
import io.tierlog.tls.Tls;
import io.tierlog.traces.TraceOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The configuration of one agent: the values of its {@link AgentOptions}, and the limits that only code can change. Rules between options are
 * checked here, once. Immutable.
 */
public final class AgentConfig {
    private static final Pattern GPU = Pattern.compile("cuda(?::(\\d{1,3}))?");
    private static final int MOST_BLOCK_BYTES = 1 << 30;
    private static final long RECORD_BYTES_PER_KEY = 56;
    private static final long RECORD_BYTES = 64 << 10;

    private final OptionValues options;
    private final Tuning tuning;
    private final Log log;
    private final Memory memory;
    private final Optional<Disk> disk;
    private final EngineAddress engine;
    private final Device device;
    private final Optional<Peers> peers;
    private final Tls tls;

    /**
     * The log.
     *
     * @param kafka the cluster, and how long to wait for it at start
     * @param topics names of the topics, which must exist
     * @param registry the schema registry; empty uses the ids of the bundled schemas
     * @param readCommitted whether commands are read only after the controller's commit
     */
    public record Log(KafkaAccess kafka, Topics topics, Optional<RegistryConfig> registry, boolean readCommitted) {}

    /**
     * Memory.
     *
     * @param hostBlocks pages of the HOST tier, 0 or more; the agent's own pages, {@link AgentLimits#bounceBlocks}, come on top
     * @param layouts what a block consists of
     */
    public record Memory(int hostBlocks, List<Layout> layouts) {
        public Memory {
            layouts = List.copyOf(layouts);
            if (hostBlocks < 0) {
                throw new IllegalArgumentException("--host: " + hostBlocks + " blocks are less than 0");
            }
            Layouts.check(layouts);
            long bytes = Layouts.blockBytes(layouts);
            if (bytes < 1 || bytes > MOST_BLOCK_BYTES) {
                throw new IllegalArgumentException("layouts: a block has 1 to " + MOST_BLOCK_BYTES + " bytes, not " + bytes);
            }
        }

        /** Size of a block. */
        public int blockBytes() {
            return Math.toIntExact(Layouts.blockBytes(layouts));
        }
    }

    /**
     * The store.
     *
     * @param location shared by all nodes; a directory is created if it does not exist
     * @param fsync of a directory: whether an object counts as stored only when it would survive a loss of power
     */
    public record Store(StoreLocation location, boolean fsync) {}

    /**
     * Reads from other nodes, and by them.
     *
     * @param listen address of the peer API; empty for an agent that other nodes cannot read from
     * @param token that agents send to each other; empty for none, which only a peer API on loopback may have
     * @param advertise the address that other nodes receive, when it is not the one listened on
     * @param directory answers which other nodes have blocks; empty for an agent that reads from no other node
     * @param limits what bounds them
     */
    public record Peers(
            Optional<PeerAddress> listen, Optional<PeerToken> token, Optional<PeerAddress> advertise, Optional<DirectoryPeers.Access> directory,
            PeerLimits limits) {
        public Peers {
            if (advertise.isPresent() && listen.isEmpty()) {
                throw new IllegalArgumentException("--peer-advertise " + advertise.get() + " is the address of the peer API: give --peer-listen too");
            }
            if (advertise.isPresent() && advertise.get().port() == 0) {
                throw new IllegalArgumentException("--peer-advertise " + advertise.get() + " has no port that other nodes can connect to");
            }
        }
    }

    /**
     * The disk tier.
     *
     * @param directory of this node alone; created if it does not exist. Its blocks outlive the process
     * @param blocks most it holds, 1 or more; the files take a little over a page of 4,096 bytes more for each, and about an eighth besides
     * @param force what survives a loss of power, beyond the death of the process
     */
    public record Disk(Path directory, int blocks, ForcePolicy force) {}

    /** The device whose memory engines register with the agent. */
    public sealed interface Device {
        /**
         * Memory that stands for a GPU's: files that engine and agent map, real bytes, real copies.
         *
         * @param limits what bounds it
         */
        record Emulated(EmulatedDevice.Limits limits) implements Device {
            @Override
            public String toString() {
                return "emulated";
            }
        }

        /**
         * A GPU.
         *
         * @param ordinal which one, from 0, as the driver counts them for this process
         * @param limits what bounds it
         */
        record Cuda(int ordinal, CudaLimits limits) implements Device {
            public Cuda {
                if (ordinal < 0) {
                    throw new IllegalArgumentException("GPUs are numbered from 0, there is no GPU " + ordinal);
                }
            }

            @Override
            public String toString() {
                return "cuda:" + ordinal;
            }
        }

        /**
         * Reads {@code emulated}, {@code cuda} or {@code cuda:N}.
         *
         * @throws IllegalArgumentException for anything else
         */
        static Device parse(String text) {
            if (text.equals("emulated")) {
                return new Emulated(EmulatedDevice.Limits.DEFAULTS);
            }
            Matcher m = GPU.matcher(text);
            if (!m.matches()) {
                throw new IllegalArgumentException("'" + text + "' is not a device: emulated, cuda, or cuda:N for GPU N");
            }
            return new Cuda(m.group(1) == null ? 0 : Integer.parseInt(m.group(1)), CudaLimits.DEFAULTS);
        }
    }

    /**
     * Limits that only code can change. Two of them follow the options: the wait for a fetch, and the rate of peer reads.
     *
     * @param core of the core
     * @param engine of the engine API; accepts as many blocks in a call as the core does in a request
     * @param host how the memory of the host pool is allocated
     * @param streams of the copies between device and host
     * @param workers of the store
     * @param peers of peer reads
     * @param events of the events that the log has not acknowledged
     * @param registry of calls to the schema registry
     * @param inboxCalls engine calls that wait for the core
     * @param inboxRecords records of the log that wait for the core
     * @param stop how long transfers may take to end when the agent stops
     */
    public record Tuning(
            AgentLimits core,
            EngineApiLimits engine,
            HostPool.Options host,
            DeviceStreams.Limits streams,
            StoreWorkers.Limits workers,
            PeerLimits peers,
            EventBuffer events,
            RegistryLimits registry,
            int inboxCalls,
            int inboxRecords,
            Duration stop) {
        /** The defaults of each, 1,024 calls and 1,024 records, 10 s. */
        public static final Tuning DEFAULTS = new Tuning(
                AgentLimits.defaults(), EngineApiLimits.DEFAULTS, HostPool.Options.DEFAULTS, DeviceStreams.Limits.DEFAULTS,
                StoreWorkers.Limits.DEFAULTS, PeerLimits.DEFAULTS, EventBuffer.DEFAULTS, RegistryLimits.DEFAULTS, 1_024, 1_024,
                Duration.ofSeconds(10));

        public Tuning {
            if (inboxCalls < 1 || inboxRecords < 1) {
                throw new IllegalArgumentException("an inbox has a capacity of 1 or more: calls " + inboxCalls + ", records " + inboxRecords);
            }
            if (engine.promptBlocks() != core.bounds().keysPerRequest() || engine.blocksPerCall() != core.bounds().blocksPerCall()) {
                throw new IllegalArgumentException("the engine API takes " + engine.promptBlocks() + " blocks of a prompt and "
                        + engine.blocksPerCall() + " in a call, the core behind it " + core.bounds().keysPerRequest() + " and "
                        + core.bounds().blocksPerCall() + ": promptBlocks and keysPerRequest are one limit, and so is blocksPerCall, give both the"
                        + " same");
            }
        }

        /** The same with other limits of the core. */
        public Tuning with(AgentLimits other) {
            return new Tuning(other, engine, host, streams, workers, peers, events, registry, inboxCalls, inboxRecords, stop);
        }

        /** The same with so many blocks of a prompt that an attempt takes. */
        public Tuning withPromptBlocks(int blocks) {
            AgentLimits.Bounds bounds = core.bounds().withKeysPerRequest(blocks);
            return new Tuning(
                    core.with(bounds), engine.with(bounds), host, streams, workers, peers, events, registry, inboxCalls, inboxRecords, stop);
        }

        /** The same with other limits of peer reads. */
        public Tuning with(PeerLimits other) {
            return new Tuning(core, engine, host, streams, workers, other, events, registry, inboxCalls, inboxRecords, stop);
        }

        /** The same with other limits of calls to the schema registry. */
        public Tuning with(RegistryLimits other) {
            return new Tuning(core, engine, host, streams, workers, peers, events, other, inboxCalls, inboxRecords, stop);
        }

        /** The same with other bounds of events on their way to the log. */
        public Tuning with(EventBuffer other) {
            return new Tuning(core, engine, host, streams, workers, peers, other, registry, inboxCalls, inboxRecords, stop);
        }

        /** The same with another time to end transfers. */
        public Tuning withStop(Duration other) {
            return new Tuning(core, engine, host, streams, workers, peers, events, registry, inboxCalls, inboxRecords, other);
        }
    }

    /**
     * A configuration.
     *
     * @param options values of {@link AgentOptions#options}
     * @throws IllegalArgumentException when options contradict each other, or a file they name cannot be read
     */
    public AgentConfig(OptionValues options, Tuning tuning) {
        this.options = options;
        Tuning sized = tuning.withPromptBlocks(options.number(AgentOptions.PROMPT_BLOCKS));
        log = new Log(LogOptions.kafka(options), LogOptions.topics(options), LogOptions.registry(options, tuning.registry()),
                options.flag(AgentOptions.READ_COMMITTED));
        AgentLimits core = sized.core().with(sized.core().bounds().withKeysPerRecord(keysPerRecord(sized.core(), log.kafka().requestBytes())));
        PeerLimits reads = tuning.peers();
        this.tuning = sized.with(core.withPrefetchWaitMs(options.number(AgentOptions.PREFETCH_WAIT_MS)))
                .with(options.has(AgentOptions.PEER_BYTES_PER_SECOND)
                        ? reads.withBytesPerSecond(options.bytes(AgentOptions.PEER_BYTES_PER_SECOND)) : reads);
        log.kafka().signing().ifPresent(on -> KeyNames.ofNode(options.text(AgentOptions.NODE)).forEach(on.keys()::require));
        List<Layout> layouts = options.findPath(AgentOptions.LAYOUTS).map(LayoutsFile::read).orElseGet(
                () -> Layouts.opaque(options.bytes(AgentOptions.BYTES_PER_BLOCK), options.number(AgentOptions.BLOCK_TOKENS)));
        memory = new Memory(blocks(AgentOptions.HOST, Layouts.blockBytes(layouts)), Layouts.onRanks(layouts, options.number(AgentOptions.RANKS)));
        disk = diskTier();
        engine = engineAddress();
        device = Device.parse(options.text(AgentOptions.DEVICE));
        peers = peerReads();
        tls = TlsOptions.tls(options);
        long pool = (long) memory.hostBlocks() + core.bounceBlocks();
        if (pool < 1 || pool > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("host blocks and bounce blocks together are 1 to " + Integer.MAX_VALUE + ", not " + pool
                    + ": without either no bytes could move");
        }
    }

    /** The configuration of an agent in this process: 1,024 host blocks of 16 KiB, no disk tier, any free port, otherwise the defaults. */
    public static AgentConfig of(String node, String bootstrapServers, Path storeDirectory) {
        return new AgentConfig(OptionValues.parse(AgentOptions.options(), Map.of(
                AgentOptions.NODE, node, LogOptions.BOOTSTRAP_SERVERS, bootstrapServers, AgentOptions.STORE, storeDirectory.toString(),
                AgentOptions.HOST, "1024blocks", AgentOptions.PORT, 0)), Tuning.DEFAULTS);
    }

    /** The same with another value of one option: a text, or a value of the type of the option. */
    public AgentConfig with(String option, Object value) {
        return with(Map.of(option, value));
    }

    /** The same with other values of some options. */
    public AgentConfig with(Map<String, ?> changes) {
        return new AgentConfig(options.with(changes), tuning);
    }

    /** The same with other limits. */
    public AgentConfig with(Tuning other) {
        return new AgentConfig(options, other);
    }

    /** As many as the limits say, or fewer where producers send shorter records: a key of 32 bytes each, and a device page with its generation. */
    private static int keysPerRecord(AgentLimits core, int requestBytes) {
        long fit = (requestBytes - RECORD_BYTES) / RECORD_BYTES_PER_KEY;
        return Math.clamp(fit, 1, core.bounds().keysPerRecord());
    }

    private int blocks(String option, long blockBytes) {
        long blocks = switch (options.size(option)) {
            case Size.OfBytes(long bytes) when bytes < blockBytes -> throw new IllegalArgumentException(
                    Options.flag(option) + ": " + bytes + " bytes are less than 1 block of " + blockBytes + " bytes");
            case Size.OfBytes(long bytes) -> bytes / blockBytes;
            case Size.OfBlocks(long count) -> count;
            case Size.OfShare _ -> throw new IllegalStateException("the bounds of " + option + " refuse shares");
        };
        if (blocks > Size.MAX_BLOCKS) {
            throw new IllegalArgumentException(Options.flag(option) + ": " + blocks + " blocks of " + blockBytes + " bytes are more than the "
                    + Size.MAX_BLOCKS + " that a tier can have");
        }
        return (int) blocks;
    }

    private Optional<Disk> diskTier() {
        if (options.has(AgentOptions.DISK) != options.has(AgentOptions.DISK_SIZE)) {
            throw new IllegalArgumentException("--disk and --disk-size go together");
        }
        if (!options.has(AgentOptions.DISK)) {
            return Optional.empty();
        }
        int blocks = blocks(AgentOptions.DISK_SIZE, memory.blockBytes());
        if (blocks < 1) {
            throw new IllegalArgumentException("--disk-size: a disk tier has 1 block or more");
        }
        return Optional.of(new Disk(options.requirePath(AgentOptions.DISK), blocks,
                options.flag(AgentOptions.FSYNC) ? ForcePolicy.PER_BATCH : ForcePolicy.NEVER));
    }

    private EngineAddress engineAddress() {
        boolean tcp = options.flag(AgentOptions.TCP);
        Optional<Path> socket = options.findPath(AgentOptions.ENGINE_SOCKET);
        if (!tcp && socket.isEmpty()) {
            throw new IllegalArgumentException("--no-tcp goes with --engine-socket: engines must be able to connect");
        }
        return new EngineAddress(tcp ? OptionalInt.of(options.number(AgentOptions.PORT)) : OptionalInt.empty(), socket);
    }

    private Optional<Peers> peerReads() {
        Optional<PeerAddress> listen = options.optional(AgentOptions.PEER_LISTEN).map(PeerAddress::parse);
        Optional<PeerAddress> advertise = options.optional(AgentOptions.PEER_ADVERTISE).map(PeerAddress::parse);
        Optional<PeerToken> token = options.findPath(AgentOptions.PEER_TOKEN_FILE).map(PeerToken::read);
        Optional<PeerAddress> directory = options.optional(AgentOptions.DIRECTORY).map(PeerAddress::parse);
        Optional<PeerToken> reader = options.findPath(AgentOptions.DIRECTORY_TOKEN_FILE).map(PeerToken::read);
        if (directory.isEmpty() && reader.isPresent()) {
            throw new IllegalArgumentException("--directory-token-file is for a directory; give --directory too");
        }
        if (listen.isEmpty() && advertise.isEmpty() && token.isEmpty() && directory.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new Peers(listen, token, advertise, directory.map(address -> new DirectoryPeers.Access(address, reader)), tuning.peers()));
    }

    /** Name of the node. */
    public String node() {
        return options.text(AgentOptions.NODE);
    }

    /** The log. */
    public Log log() {
        return log;
    }

    /** The host pool and what a block is. */
    public Memory memory() {
        return memory;
    }

    /** The shared store. */
    public Store store() {
        return new Store(StoreLocation.parse(options.text(AgentOptions.STORE)), options.flag(AgentOptions.FSYNC));
    }

    /** The node's own disk; empty when it has no disk tier. */
    public Optional<Disk> disk() {
        return disk;
    }

    /** Address of the engine API. */
    public EngineAddress engine() {
        return engine;
    }

    /** The device of the engines. */
    public Device device() {
        return device;
    }

    /** Nodes that one engine instance spans. */
    public int nodesPerInstance() {
        return options.number(AgentOptions.NODES_PER_INSTANCE);
    }

    /** Tensor-parallel ranks on this node; MLA layers are replicated over them. */
    public int ranks() {
        return options.number(AgentOptions.RANKS);
    }

    /** How long to retry while another process is registered for the node. */
    public Duration registrationTimeout() {
        return Duration.ofSeconds(options.number(AgentOptions.REGISTRATION_TIMEOUT));
    }

    /** Limits. */
    public Tuning tuning() {
        return tuning;
    }

    /** Reads from other nodes, and by them; empty for none. */
    public Optional<Peers> peers() {
        return peers;
    }

    /** TLS of its listeners and calls. */
    public Tls tls() {
        return tls;
    }

    /** Where metrics and health are served; empty for nowhere. */
    public Optional<Endpoint> status() {
        return options.optional(AgentOptions.STATUS_LISTEN).map(Endpoint::parse);
    }

    /** Where spans go; empty when traces are off. */
    public Optional<URI> traces() {
        return TraceOptions.endpoint(options);
    }

    /** Pages of the host pool: those of the HOST tier, and behind them the agent's own. */
    public int poolPages() {
        return memory.hostBlocks() + tuning.core().bounceBlocks();
    }

    /** Blocks of the disk tier; 0 when there is none. */
    public int diskBlocks() {
        return disk.map(Disk::blocks).orElse(0);
    }

    /** The digest of the layouts, which engines must have too. */
    public Bytes layoutDigest() {
        return Layouts.layoutDigest(memory.layouts());
    }

    /** The effective configuration as the log records it: every option by its name, and every limit as {@code limit.NAME}. */
    public SortedMap<String, String> effective() {
        SortedMap<String, String> all = options.effective();
        all.put("block.bytes", String.valueOf(memory.blockBytes()));
        all.put("host.blocks", String.valueOf(memory.hostBlocks()));
        all.put("disk.blocks", String.valueOf(diskBlocks()));
        all.putAll(EffectiveLimits.of("limit", tuning));
        all.putAll(EffectiveLimits.of("limit.device", switch (device) {
            case Device.Emulated emulated -> emulated.limits();
            case Device.Cuda cuda -> cuda.limits();
        }));
        return all;
    }
}
