/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.engine.EngineAddress;
import io.tierlog.agent.app.engine.EngineApiLimits;
import io.tierlog.agent.app.log.EventBuffer;
import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.memory.EmulatedDevice;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.app.peer.DirectoryPeers;
import io.tierlog.agent.app.peer.PeerAddress;
import io.tierlog.agent.app.peer.PeerLimits;
import io.tierlog.agent.app.peer.PeerToken;
import io.tierlog.agent.app.store.StoreWorkers;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.cuda.CudaLimits;
import io.tierlog.agent.disk.ForcePolicy;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Topics;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Layout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an agent is started with; checked once, here. Immutable. Begin with {@link #of} and change what differs.
 *
 * @param node name of the node: 1 to 64 letters, digits, dots, dashes, underscores
 * @param log where the log is and how it is used
 * @param memory the host pool and what a block is
 * @param store the shared store
 * @param disk the node's own disk; empty when it has no disk tier
 * @param door where engines find the door
 * @param nodesPerInstance nodes that one engine instance spans; the controller refuses more than 1
 * @param ranks tensor-parallel ranks on this node; MLA layers are replicated over them
 * @param times how long things may take
 * @param tuning every other bound
 * @param peers reads from other nodes, and by them; empty for none
 */
public record AgentConfig(
        String node,
        Log log,
        Memory memory,
        Store store,
        Optional<Disk> disk,
        EngineAddress door,
        int nodesPerInstance,
        int ranks,
        Times times,
        Tuning tuning,
        Optional<Peers> peers) {
    private static final Pattern GPU = Pattern.compile("cuda(?::(\\d{1,3}))?");
    private static final Pattern NODE = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final int MOST_BLOCK_BYTES = 1 << 30;

    /**
     * The log.
     *
     * @param kafka the cluster, and how long it is waited for at start
     * @param topics names of the topics, which must exist
     * @param registry the schema registry; empty uses the ids of the bundled schemas
     * @param readCommitted whether commands are read only after the controller's commit
     * @param buffer bounds of events on their way
     */
    public record Log(KafkaAccess kafka, Topics topics, Optional<RegistryConfig> registry, boolean readCommitted, EventBuffer buffer) {}

    /**
     * Memory.
     *
     * @param hostBlocks pages of the HOST tier, 0 or more; the agent's own pages, {@link AgentLimits#bounceBlocks}, come on top
     * @param blockBytes size of a block
     * @param layouts what a block consists of; their segments add up to {@code blockBytes}
     */
    public record Memory(int hostBlocks, int blockBytes, List<Layout> layouts) {
        public Memory {
            layouts = List.copyOf(layouts);
            if (hostBlocks < 0) {
                throw new IllegalArgumentException("host blocks are 0 or more, not " + hostBlocks);
            }
            if (blockBytes < 1 || blockBytes > MOST_BLOCK_BYTES) {
                throw new IllegalArgumentException("a block has 1 to " + MOST_BLOCK_BYTES + " bytes, not " + blockBytes);
            }
            Layouts.check(layouts);
            if (Layouts.blockBytes(layouts) != blockBytes) {
                throw new IllegalArgumentException("layouts: their segments add up to " + Layouts.blockBytes(layouts)
                        + " bytes, a block has " + blockBytes);
            }
        }
    }

    /**
     * The store.
     *
     * @param directory of the store, shared by all nodes; made if need be
     * @param fsync whether an object counts as stored only when it would survive a loss of power
     */
    public record Store(Path directory, boolean fsync) {}

    /**
     * Reads from other nodes, and by them.
     *
     * @param listen where other agents find the peer door; empty for an agent that lends nothing
     * @param token that agents show each other; empty for none, which only a door on loopback may have
     * @param advertise the address that others are told, when it is not the one listened on
     * @param directory whom this agent asks who else has blocks; empty for an agent that reads from nobody
     * @param limits what bounds them
     */
    public record Peers(
            Optional<PeerAddress> listen, Optional<PeerToken> token, Optional<PeerAddress> advertise, Optional<DirectoryPeers.Access> directory,
            PeerLimits limits) {
        public Peers {
            if (advertise.isPresent() && listen.isEmpty()) {
                throw new IllegalArgumentException("--peer-advertise " + advertise.get() + " says where the peer door is; give --peer-listen too");
            }
            if (advertise.isPresent() && advertise.get().port() == 0) {
                throw new IllegalArgumentException("--peer-advertise " + advertise.get() + " names no port that others can connect to");
            }
        }
    }

    /**
     * The disk tier.
     *
     * @param directory of this node alone; made if need be. What it holds outlives the process
     * @param blocks most it holds, 1 or more; the files take a little over a page of 4,096 bytes more for each, and about an eighth besides
     * @param force what survives a loss of power, beyond the death of the process
     */
    public record Disk(Path directory, int blocks, ForcePolicy force) {
        public Disk {
            if (blocks < 1) {
                throw new IllegalArgumentException("disk blocks are 1 or more, not " + blocks);
            }
        }
    }

    /** The device whose memory engines give to the agent. */
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
                    throw new IllegalArgumentException("GPUs are counted from 0, there is no " + ordinal);
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
                throw new IllegalArgumentException("'" + text + "' is no device: emulated, cuda, or cuda:N for GPU N");
            }
            return new Cuda(m.group(1) == null ? 0 : Integer.parseInt(m.group(1)), CudaLimits.DEFAULTS);
        }
    }

    /**
     * Times.
     *
     * @param registration how long to keep asking while another process speaks for the node
     * @param stop how long transfers may take to end when the agent stops
     */
    public record Times(Duration registration, Duration stop) {
        /** 15 s and 10 s. */
        public static final Times DEFAULTS = new Times(Duration.ofSeconds(15), Duration.ofSeconds(10));
    }

    /**
     * Bounds.
     *
     * @param limits of the core
     * @param door of the engine door; takes as many blocks in a call as the core does in a request
     * @param host how the memory of the host pool is had
     * @param device the device of the engines
     * @param streams of the copies between device and host
     * @param workers of the store
     * @param inboxCalls engine calls that wait for the core
     * @param inboxRecords records of the log that wait for the core
     */
    public record Tuning(
            AgentLimits limits,
            EngineApiLimits door,
            HostPool.Options host,
            Device device,
            DeviceStreams.Limits streams,
            StoreWorkers.Limits workers,
            int inboxCalls,
            int inboxRecords) {
        public Tuning {
            if (inboxCalls < 1 || inboxRecords < 1) {
                throw new IllegalArgumentException("an inbox has room for 1 or more: calls " + inboxCalls + ", records " + inboxRecords);
            }
            if (door.blocksPerCall() != limits.bounds().keysPerRequest()) {
                throw new IllegalArgumentException("the door takes " + door.blocksPerCall() + " blocks in a call and the core behind it "
                        + limits.bounds().keysPerRequest() + ": blocksPerCall and keysPerRequest are one limit, give both the same");
            }
        }

        /** The defaults of each, 1,024 calls and 1,024 records. */
        public static Tuning defaults() {
            return new Tuning(
                    AgentLimits.defaults(),
                    EngineApiLimits.DEFAULTS,
                    HostPool.Options.DEFAULTS,
                    new Device.Emulated(EmulatedDevice.Limits.DEFAULTS),
                    DeviceStreams.Limits.DEFAULTS,
                    StoreWorkers.Limits.DEFAULTS,
                    1_024,
                    1_024);
        }
    }

    public AgentConfig {
        if (!NODE.matcher(node).matches()) {
            throw new IllegalArgumentException("node '" + node + "' is not 1 to 64 letters, digits, dots, dashes or underscores");
        }
        if (nodesPerInstance < 1 || ranks < 1) {
            throw new IllegalArgumentException("nodes per instance and ranks are 1 or more, not " + nodesPerInstance + " and " + ranks);
        }
        memory = new Memory(memory.hostBlocks(), memory.blockBytes(), Layouts.onRanks(memory.layouts(), ranks));
        long pool = (long) memory.hostBlocks() + tuning.limits().bounceBlocks();
        if (pool < 1 || pool > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("host blocks and bounce blocks together are 1 to " + Integer.MAX_VALUE + ", not " + pool
                    + ": without either no byte could move");
        }
    }

    /** The defaults: bundled schemas, 1,024 host blocks of 16 KiB in one opaque segment, no disk tier, any free port, no fsync. */
    public static AgentConfig of(String node, KafkaAccess kafka, Path storeDirectory) {
        int blockBytes = 16 << 10;
        return new AgentConfig(
                node,
                new Log(kafka, Topics.DEFAULT, Optional.empty(), false, EventBuffer.DEFAULTS),
                new Memory(1_024, blockBytes, Layouts.opaque(blockBytes, Layouts.DEFAULT_BLOCK_TOKENS)),
                new Store(storeDirectory, false),
                Optional.empty(),
                EngineAddress.tcp(0),
                1,
                1,
                Times.DEFAULTS,
                Tuning.defaults(),
                Optional.empty());
    }

    /** Pages of the host pool: those of the HOST tier, and behind them the agent's own. */
    public int poolPages() {
        return memory.hostBlocks() + tuning.limits().bounceBlocks();
    }

    /** Blocks of the disk tier; 0 when there is none. */
    public int diskBlocks() {
        return disk.map(Disk::blocks).orElse(0);
    }

    /** The digest of the layouts, which engines must have too. */
    public Bytes layoutDigest() {
        return Layouts.layoutDigest(memory.layouts());
    }

    /** The effective configuration as it goes on record: every option that has an effect on what the agent does. */
    public Map<String, String> effective() {
        Map<String, String> all = new TreeMap<>();
        all.put("block.bytes", String.valueOf(memory.blockBytes()));
        all.put("host.blocks", String.valueOf(memory.hostBlocks()));
        all.put("layouts", Layouts.canonical(memory.layouts()).replace('\n', ';'));
        all.put("store.directory", store.directory().toString());
        all.put("store.fsync", String.valueOf(store.fsync()));
        all.put("disk.blocks", String.valueOf(diskBlocks()));
        disk.ifPresent(tier -> {
            all.put("disk.directory", tier.directory().toString());
            all.put("disk.force", tier.force().toString());
        });
        all.put("nodes.per.instance", String.valueOf(nodesPerInstance));
        all.put("ranks", String.valueOf(ranks));
        all.put("read.committed", String.valueOf(log.readCommitted()));
        all.put("log.buffer.records", String.valueOf(log.buffer().records()));
        all.put("log.buffer.bytes", String.valueOf(log.buffer().bytes()));
        all.put("device", tuning.device().toString());
        if (tuning.device() instanceof Device.Emulated(EmulatedDevice.Limits emulated)) {
            all.put("device.bytes.per.second", String.valueOf(emulated.bytesPerSecond()));
        }
        all.put("host.huge.pages", String.valueOf(tuning.host().hugePages()));
        all.put("host.numa.node", tuning.host().numaNode().isPresent() ? String.valueOf(tuning.host().numaNode().getAsInt()) : "any");
        all.put("host.slab.bytes", String.valueOf(tuning.host().slabBytes()));
        all.put("device.queue.units", String.valueOf(tuning.streams().queueUnits()));
        all.put("device.queue.bytes", String.valueOf(tuning.streams().queueBytes()));
        all.put("device.work.bytes", String.valueOf(tuning.streams().workBytes()));
        all.put("device.save.wait.ms", String.valueOf(tuning.streams().saveWaitMs()));
        all.put("store.readers", String.valueOf(tuning.workers().readers()));
        all.put("store.writers", String.valueOf(tuning.workers().writers()));
        all.put("inbox.calls", String.valueOf(tuning.inboxCalls()));
        AgentLimits limits = tuning.limits();
        all.put("prefetch.wait.ms", String.valueOf(limits.times().prefetchWaitMs()));
        all.put("write.back.wait.ms", String.valueOf(limits.times().writeBackWaitMs()));
        all.put("write.back.patience.ms", String.valueOf(limits.times().writeBackPatienceMs()));
        all.put("heartbeat.ms", String.valueOf(limits.times().heartbeatMs()));
        all.put("unit.blocks", String.valueOf(limits.units().blocks()));
        all.put("requests", String.valueOf(limits.bounds().requests()));
        all.put("bounce.blocks", String.valueOf(limits.bounceBlocks()));
        all.put("operations", String.valueOf(limits.bounds().operations()));
        all.put("keys.per.request", String.valueOf(limits.bounds().keysPerRequest()));
        all.put("peer.listen", peers.flatMap(Peers::listen).map(PeerAddress::toString).orElse("none"));
        all.put("peer.token", String.valueOf(peers.flatMap(Peers::token).isPresent()));
        all.put("peer.directory", peers.flatMap(Peers::directory).map(directory -> directory.address().toString()).orElse("none"));
        all.put("peer.find.ms", String.valueOf(limits.peers().findMs()));
        all.put("store.shards", String.valueOf(limits.storeShards()));
        return all;
    }

    /** A builder that begins with these settings. */
    public Builder with() {
        return new Builder(this);
    }

    /** Changes some settings. Not safe for use by several threads. */
    public static final class Builder {
        private String node;
        private Log log;
        private Memory memory;
        private Store store;
        private Optional<Disk> disk;
        private EngineAddress door;
        private int nodesPerInstance;
        private int ranks;
        private Times times;
        private Tuning tuning;
        private Optional<Peers> peers;

        private Builder(AgentConfig from) {
            node = from.node;
            log = from.log;
            memory = from.memory;
            store = from.store;
            disk = from.disk;
            door = from.door;
            nodesPerInstance = from.nodesPerInstance;
            ranks = from.ranks;
            times = from.times;
            tuning = from.tuning;
            peers = from.peers;
        }

        /** Reads from other nodes, and by them. */
        public Builder peers(Peers value) {
            peers = Optional.of(value);
            return this;
        }

        /** Name of the node. */
        public Builder node(String value) {
            node = value;
            return this;
        }

        /** Names of the topics. */
        public Builder topics(Topics value) {
            log = new Log(log.kafka(), value, log.registry(), log.readCommitted(), log.buffer());
            return this;
        }

        /** A schema registry instead of the bundled ids. */
        public Builder registry(RegistryConfig value) {
            log = new Log(log.kafka(), log.topics(), Optional.of(value), log.readCommitted(), log.buffer());
            return this;
        }

        /** Whether commands are read only after the controller's commit. */
        public Builder readCommitted(boolean value) {
            log = new Log(log.kafka(), log.topics(), log.registry(), value, log.buffer());
            return this;
        }

        /** Bounds of events on their way. */
        public Builder eventBuffer(EventBuffer value) {
            log = new Log(log.kafka(), log.topics(), log.registry(), log.readCommitted(), value);
            return this;
        }

        /** Host pool and block size, with one opaque segment of {@code blockTokens} tokens a block. */
        public Builder memory(int hostBlocks, int blockBytes, int blockTokens) {
            memory = new Memory(hostBlocks, blockBytes, Layouts.opaque(blockBytes, blockTokens));
            return this;
        }

        /** Host pool and layouts, which give the block size. */
        public Builder memory(int hostBlocks, List<Layout> layouts) {
            memory = new Memory(hostBlocks, Math.toIntExact(Math.min(Integer.MAX_VALUE, Layouts.blockBytes(layouts))), layouts);
            return this;
        }

        /** Whether stored objects survive a loss of power at once. */
        public Builder fsync(boolean value) {
            store = new Store(store.directory(), value);
            return this;
        }

        /** A disk tier, whose blocks survive the process but not, before the system has written them, a loss of power. */
        public Builder disk(Path directory, int blocks) {
            return disk(new Disk(directory, blocks, ForcePolicy.NEVER));
        }

        /** A disk tier. */
        public Builder disk(Disk value) {
            disk = Optional.of(value);
            return this;
        }

        /** Port of the engine door; 0 for any free one. */
        public Builder enginePort(int value) {
            return door(EngineAddress.tcp(value));
        }

        /** Where engines find the door. */
        public Builder door(EngineAddress value) {
            door = value;
            return this;
        }

        /** Nodes that one engine instance spans, and ranks on this one. */
        public Builder parallelism(int nodes, int ranksHere) {
            nodesPerInstance = nodes;
            ranks = ranksHere;
            return this;
        }

        /** How long things may take. */
        public Builder times(Times value) {
            times = value;
            return this;
        }

        /** Bounds of the core. */
        public Builder limits(AgentLimits value) {
            tuning = new Tuning(
                    value,
                    tuning.door(),
                    tuning.host(),
                    tuning.device(),
                    tuning.streams(),
                    tuning.workers(),
                    tuning.inboxCalls(),
                    tuning.inboxRecords());
            return this;
        }

        /** The device of the engines. */
        public Builder device(Device value) {
            return tuning(new Tuning(
                    tuning.limits(),
                    tuning.door(),
                    tuning.host(),
                    value,
                    tuning.streams(),
                    tuning.workers(),
                    tuning.inboxCalls(),
                    tuning.inboxRecords()));
        }

        /** All bounds. */
        public Builder tuning(Tuning value) {
            tuning = value;
            return this;
        }

        /** The configuration, checked. */
        public AgentConfig build() {
            return new AgentConfig(node, log, memory, store, disk, door, nodesPerInstance, ranks, times, tuning, peers);
        }
    }
}
