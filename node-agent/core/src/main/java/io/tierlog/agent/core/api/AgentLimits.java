/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.api;

/**
 * Every bound of an agent core, checked once.
 *
 * @param times how long things wait, by the agent's monotonic clock
 * @param units how bytes are cut into units of work
 * @param bounds how much there may be of anything
 * @param disk what goes to and from the disk of the node
 * @param engines what engines may have open beside requests
 * @param storeShards number of shards of the store's aggregates; must be the controller's
 * @param bounceBlocks pages of the agent's own, in blocks, that belong to no tier: copies from the device or the disk to a colder tier go through
 *     them; with 0 such copies are refused
 * @param peers reads from other nodes, and by them
 * @param promotions promotions that reads ask for
 */
public record AgentLimits(
        Times times, Units units, Bounds bounds, Disk disk, Engines engines, int storeShards, int bounceBlocks, Peers peers, Promotions promotions) {
    /**
     * Reads from other nodes, and by them. Times in milliseconds.
     *
     * @param findMs longest wait of a submission for the answer which other nodes have its blocks, 0 or more
     * @param retryMs time until the next try of a reader whose peer read lease has not arrived, 1 or more
     * @param grants peer read leases that are open at once; the ends of as many more are remembered, 1 or more
     * @param reads reads by other nodes under way at once, 1 or more
     * @param refusalMs how long a node that refused a read ranks behind others, 0 or more
     * @param units units that are read from other nodes at once, beside those of fetches, 1 or more
     */
    public record Peers(long findMs, long retryMs, int grants, int reads, long refusalMs, int units) {
        /** The defaults. */
        public static final Peers DEFAULTS = new Peers(20, 5, 256, 16, 10_000, 8);

        public Peers {
            atLeast("findMs", findMs, 0);
            atLeast("retryMs", retryMs, 1);
            atLeast("grants", grants, 1);
            atLeast("reads", reads, 1);
            atLeast("refusalMs", refusalMs, 0);
            atLeast("units", units, 1);
        }
    }

    /**
     * Promotions that reads ask for. Times in milliseconds.
     *
     * @param blocks most blocks of one record, 1 to the 128 that a probe may name
     * @param remembered blocks whose request is remembered; beyond it the oldest are forgotten, 1 or more
     * @param leastMs how long a block is not requested again, 1 or more
     * @param mostMs the same at most, when it is requested again and again; not less
     */
    public record Promotions(int blocks, int remembered, long leastMs, long mostMs) {
        /** The defaults. */
        public static final Promotions DEFAULTS = new Promotions(128, 16_384, 1_000, 4_000);

        public Promotions {
            atLeast("blocks of an ask", blocks, 1);
            if (blocks > 128) {
                throw new IllegalArgumentException("blocks of an ask are at most 128, not " + blocks);
            }
            atLeast("remembered", remembered, 1);
            atLeast("leastMs", leastMs, 1);
            atLeast("mostMs", mostMs, leastMs);
        }
    }

    /** With the usual limits of reads from other nodes, and of promotions that reads ask for. */
    public AgentLimits(Times times, Units units, Bounds bounds, Disk disk, Engines engines, int storeShards, int bounceBlocks) {
        this(times, units, bounds, disk, engines, storeShards, bounceBlocks, Peers.DEFAULTS, Promotions.DEFAULTS);
    }

    /**
     * Times in milliseconds.
     *
     * @param prefetchWaitMs longest wait of a request for a fetch, 0 or more
     * @param writeBackWaitMs how long device pages of a finished request wait for a command, and a write-back for capacity
     * @param writeBackPatienceMs how long those pages wait at most, while no more than half of the device waits like that; not less
     * @param heartbeatMs time between two looks for something to report in a heartbeat, 1 or more
     * @param unitMs longest wait for the end of a unit at the store, the disk or another node, 1 or more; beyond it the unit's outcome is unknown
     * @param probeMs longest wait for the store's answer where no request waits for it: Exist calls, and all of the look before a registration; 1
     *     or more
     */
    public record Times(long prefetchWaitMs, long writeBackWaitMs, long writeBackPatienceMs, long heartbeatMs, long unitMs, long probeMs) {
        /** With the usual bounds of ports: a minute for a unit, five seconds for a probe. */
        public Times(long prefetchWaitMs, long writeBackWaitMs, long writeBackPatienceMs, long heartbeatMs) {
            this(prefetchWaitMs, writeBackWaitMs, writeBackPatienceMs, heartbeatMs, 60_000, 5_000);
        }

        public Times {
            atLeast("prefetchWaitMs", prefetchWaitMs, 0);
            atLeast("writeBackWaitMs", writeBackWaitMs, 0);
            atLeast("writeBackPatienceMs", writeBackPatienceMs, writeBackWaitMs);
            atLeast("heartbeatMs", heartbeatMs, 1);
            atLeast("unitMs", unitMs, 1);
            atLeast("probeMs", probeMs, 1);
        }
    }

    /**
     * Units of work: how large, and how many of each kind are under way at once.
     *
     * @param blocks largest number of blocks in one unit, 1 or more
     * @param loads units of host to device under way, 1 or more
     * @param fetches units of store or disk to host under way, 1 or more; those from other nodes are {@link Peers#units}
     * @param saves units of device to host under way, 1 or more
     * @param backUps units of host to store under way, 1 or more
     */
    public record Units(int blocks, int loads, int fetches, int saves, int backUps) {
        public Units {
            atLeast("blocks of a unit", blocks, 1);
            atLeast("loads", loads, 1);
            atLeast("fetches", fetches, 1);
            atLeast("saves", saves, 1);
            atLeast("backUps", backUps, 1);
        }
    }

    /**
     * The disk of the node. Units that read from it count as fetches.
     *
     * @param copies units of copies to a colder tier under way, each of their legs counted, 1 or more
     * @param drops units of drops from the disk under way for commands, 1 or more
     * @param recoveredPerRecord most blocks in one record about what a start has found, 1 to 1,000
     */
    public record Disk(int copies, int drops, int recoveredPerRecord) {
        public Disk {
            atLeast("copies", copies, 1);
            atLeast("drops", drops, 1);
            atLeast("recoveredPerRecord", recoveredPerRecord, 1);
            if (recoveredPerRecord > 1_000) {
                throw new IllegalArgumentException("recoveredPerRecord must be 1,000 or less, was " + recoveredPerRecord);
            }
        }
    }

    /**
     * What engines may have open beside requests. Times in milliseconds.
     *
     * @param leases reservations of one session that are open at once, 1 or more
     * @param reservedPercent most of the host pages that all reservations together keep, 1 to 100
     * @param leaseMs default duration of a reservation, 1 or more
     * @param mostLeaseMs longest duration of a reservation; not less
     * @param calls calls of each kind (Exist, Read, Save) that wait for something at once, 1 or more
     * @param readWaitMs default wait of a Read for blocks on their way, 0 or more
     * @param mostReadWaitMs longest wait of a Read; not less
     */
    public record Engines(int leases, int reservedPercent, long leaseMs, long mostLeaseMs, int calls, long readWaitMs, long mostReadWaitMs) {
        public Engines {
            atLeast("leases", leases, 1);
            atLeast("reservedPercent", reservedPercent, 1);
            if (reservedPercent > 100) {
                throw new IllegalArgumentException("reservedPercent must be 100 or less, was " + reservedPercent);
            }
            atLeast("leaseMs", leaseMs, 1);
            atLeast("mostLeaseMs", mostLeaseMs, leaseMs);
            atLeast("calls", calls, 1);
            atLeast("readWaitMs", readWaitMs, 0);
            atLeast("mostReadWaitMs", mostReadWaitMs, readWaitMs);
        }
    }

    /**
     * Counts.
     *
     * @param requests attempts that live or whose device pages are still pinned
     * @param waiting attempts that wait for the store's answer or for a fetch; one more is answered at once
     * @param operations operations in progress, those that wait for capacity included
     * @param keysPerRequest blocks of a prompt that an attempt takes, from the first on, and of a load; the engine server must have the same
     * @param keysPerRecord keys of a prompt that its record names: what comes after them is not fetched; no more than keysPerRequest
     * @param blocksPerCall blocks of any other call, of a command, and of any other record; no more than keysPerRequest. The engine server must have
     *     the same
     * @param journal commands, ended operations, and (times 64) blocks of ended operations that are remembered
     */
    public record Bounds(int requests, int waiting, int operations, int keysPerRequest, int keysPerRecord, int blocksPerCall, int journal) {
        /** With the usual numbers of a record and a call, or that of a prompt where it is less. */
        public Bounds(int requests, int waiting, int operations, int keysPerRequest, int journal) {
            this(requests, waiting, operations, keysPerRequest, Math.min(keysPerRequest, KEYS_PER_RECORD), Math.min(keysPerRequest, BLOCKS_PER_CALL),
                    journal);
        }

        public Bounds {
            atLeast("requests", requests, 1);
            atLeast("waiting", waiting, 1);
            atLeast("operations", operations, 1);
            atLeast("keysPerRequest", keysPerRequest, 1);
            atLeast("keysPerRecord", keysPerRecord, 1);
            atLeast("blocksPerCall", blocksPerCall, 1);
            if (keysPerRecord > keysPerRequest || blocksPerCall > keysPerRequest) {
                throw new IllegalArgumentException("keysPerRecord " + keysPerRecord + " and blocksPerCall " + blocksPerCall
                        + " must be no more than keysPerRequest " + keysPerRequest);
            }
            atLeast("journal", journal, 1);
        }

        /** The same with so many blocks of a prompt; a record and a call have no more than that. */
        public Bounds withKeysPerRequest(int keys) {
            return new Bounds(requests, waiting, operations, keys, Math.min(keys, keysPerRecord), Math.min(keys, blocksPerCall), journal);
        }

        /** The same with so many keys in a record, or as many as a prompt has. */
        public Bounds withKeysPerRecord(int keys) {
            return new Bounds(requests, waiting, operations, keysPerRequest, Math.min(keys, keysPerRequest), blocksPerCall, journal);
        }

        /** Keys of all attempts together, as many as if each had the blocks of a call; but one long prompt always fits. */
        public long liveKeys() {
            return Math.max(keysPerRequest, (long) requests * blocksPerCall);
        }

        /** Blocks named in the terminal events that are remembered. */
        public int journalBlocks() {
            return (int) Math.min(Integer.MAX_VALUE, journal * 64L);
        }
    }

    /** Default for blocks of a prompt that an attempt takes: 1,048,576 tokens of 16. */
    public static final int KEYS_PER_REQUEST = 65_536;

    /** Largest number of blocks of a prompt that an attempt can be set to take. */
    public static final int MOST_KEYS_PER_REQUEST = 262_144;

    /** Default for keys of a prompt in its record: so many keep within the 1 MiB that Kafka's producers send and its topics take by default. */
    public static final int KEYS_PER_RECORD = 16_384;

    /** Default for blocks of any call but Submit, Load and Sealed, of a command, and of one record about sealed, loaded or evicted blocks. */
    public static final int BLOCKS_PER_CALL = 4_096;

    /** Most blocks in one WriteBackBlocks; a command of that size may be followed by another for the same request. */
    public static final int FULL_BATCH = 1_000;

    /** Largest number of device pages an engine may hand over. */
    public static final int MAX_DEVICE_PAGES = 1 << 24;

    /** Engine sessions open at once; one of them may have a device pool. */
    public static final int MAX_ENGINE_SESSIONS = 16;

    public AgentLimits {
        atLeast("storeShards", storeShards, 1);
        atLeast("bounceBlocks", bounceBlocks, 0);
    }

    /** The default limits. */
    public static AgentLimits defaults() {
        return new AgentLimits(
                new Times(200, 2_000, 10_000, 1_000), new Units(32, 4, 4, 2, 4), new Bounds(4_096, 1_024, 1_024, KEYS_PER_REQUEST, 4_096),
                new Disk(4, 2, 1_000), new Engines(256, 50, 5_000, 60_000, 256, 10, 10_000), 8, 8);
    }

    /** A copy with another longest wait for a fetch. */
    public AgentLimits withPrefetchWaitMs(long ms) {
        return with(new Times(ms, times.writeBackWaitMs, times.writeBackPatienceMs, times.heartbeatMs, times.unitMs, times.probeMs));
    }

    /** A copy with another wait of a finished request's device pages, which is not extended. */
    public AgentLimits withWriteBackWaitMs(long ms) {
        return with(new Times(times.prefetchWaitMs, ms, ms, times.heartbeatMs, times.unitMs, times.probeMs));
    }

    /** A copy with other times. */
    public AgentLimits with(Times other) {
        return new AgentLimits(other, units, bounds, disk, engines, storeShards, bounceBlocks, peers, promotions);
    }

    /** A copy with other units. */
    public AgentLimits with(Units other) {
        return new AgentLimits(times, other, bounds, disk, engines, storeShards, bounceBlocks, peers, promotions);
    }

    /** A copy with other limits of the disk. */
    public AgentLimits with(Disk other) {
        return new AgentLimits(times, units, bounds, other, engines, storeShards, bounceBlocks, peers, promotions);
    }

    /** A copy with other bounds. */
    public AgentLimits with(Bounds other) {
        return new AgentLimits(times, units, other, disk, engines, storeShards, bounceBlocks, peers, promotions);
    }

    /** A copy with other limits of engines. */
    public AgentLimits with(Engines other) {
        return new AgentLimits(times, units, bounds, disk, other, storeShards, bounceBlocks, peers, promotions);
    }

    /** A copy with another number of bounce pages. */
    public AgentLimits withBounceBlocks(int blocks) {
        return new AgentLimits(times, units, bounds, disk, engines, storeShards, blocks, peers, promotions);
    }

    /** A copy with other limits of reads between nodes. */
    public AgentLimits with(Peers other) {
        return new AgentLimits(times, units, bounds, disk, engines, storeShards, bounceBlocks, other, promotions);
    }

    /** A copy with other limits of promotions that reads request. */
    public AgentLimits with(Promotions other) {
        return new AgentLimits(times, units, bounds, disk, engines, storeShards, bounceBlocks, peers, other);
    }

    private static void atLeast(String name, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(name + " must be " + least + " or more, was " + value);
        }
    }
}
