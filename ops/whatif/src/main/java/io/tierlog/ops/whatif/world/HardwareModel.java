/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import java.util.List;
import java.util.Map;

/**
 * How long things take. Immutable.
 *
 * @param load host to device
 * @param save device to host
 * @param storeRead store to host
 * @param storeWrite host to store
 * @param storeProbe questions to the store; a key counts as no bytes
 * @param diskRead disk to host
 * @param diskWrite host to disk
 * @param log the way of records
 * @param engine the engines
 */
public record HardwareModel(
        Link load, Link save, Link storeRead, Link storeWrite, Link storeProbe, Link diskRead, Link diskWrite, Log log, Engine engine) {
    /** Names of the links, as files have them. */
    public static final List<String> LINKS = List.of("load", "save", "store_read", "store_write", "store_probe", "disk_read", "disk_write");

    /**
     * A queue with so many workers; each takes a piece at a time, and a piece takes its latency and its bytes.
     *
     * @param latencyMicros time of a piece beside its bytes, in microseconds
     * @param bytesPerSecond of one worker
     * @param workers pieces under way at once, 1 or more
     * @param pieceBlocks most blocks of a piece, 1 or more
     */
    public record Link(long latencyMicros, long bytesPerSecond, int workers, int pieceBlocks) {
        public Link {
            atLeast("latency_us", latencyMicros, 0);
            atLeast("bytes_per_second", bytesPerSecond, 1);
            atLeast("workers", workers, 1);
            atLeast("piece_blocks", pieceBlocks, 1);
        }

        /** A copy with another latency and bandwidth. */
        public Link with(long otherLatencyMicros, long otherBytesPerSecond) {
            return new Link(otherLatencyMicros, otherBytesPerSecond, workers, pieceBlocks);
        }

        /** Time of a piece of {@code bytes}, in microseconds. */
        long micros(long bytes) {
            return latencyMicros + Math.ceilDiv(bytes * 1_000_000, bytesPerSecond);
        }
    }

    /**
     * The way of records, in microseconds.
     *
     * @param eventMicros from an agent to the controller's decision, at most {@link Delays#MOST_MICROS}
     * @param commandMicros from there to the agent
     * @param commitMicros between two transactions: facts and messages wait for the next
     * @param roundTrips both ways together as they were measured, in place of the constants; {@link Delays#NONE} without
     */
    public record Log(long eventMicros, long commandMicros, long commitMicros, Delays roundTrips) {
        /** Constants alone. */
        public Log(long eventMicros, long commandMicros, long commitMicros) {
            this(eventMicros, commandMicros, commitMicros, Delays.NONE);
        }

        public Log {
            between("event_us", eventMicros, Delays.MOST_MICROS);
            between("command_us", commandMicros, Delays.MOST_MICROS);
            atLeast("commit_us", commitMicros, 1);
        }

        /** A copy with delays that were measured. */
        public Log with(Delays measured) {
            return new Log(eventMicros, commandMicros, commitMicros, measured);
        }

        /** The way to the controller of an event that leaves at {@code atMs} after the first request. */
        long eventMicros(long atMs) {
            return roundTrips.micros(atMs, 2 * eventMicros) / 2;
        }

        /** The way back of a command that such an event causes. */
        long commandMicros(long atMs) {
            return roundTrips.micros(atMs, 2 * commandMicros) / 2;
        }
    }

    /**
     * The engines.
     *
     * @param callMicros a call to the agent and its answer, beside what it waits for
     * @param prefillNanosPerToken cost of computing a token of a prompt
     * @param decodeNanosPerToken time of generating a token; the request holds its pages so long
     * @param prefills prompts that an engine computes at once, the others wait; 0 when computing counts in the time to the first token and
     *     delays no other request, as in the demo
     * @param calls calls as they were measured, in place of the constant; {@link Delays#NONE} without
     */
    public record Engine(long callMicros, long prefillNanosPerToken, long decodeNanosPerToken, int prefills, Delays calls) {
        /** Constants alone. */
        public Engine(long callMicros, long prefillNanosPerToken, long decodeNanosPerToken, int prefills) {
            this(callMicros, prefillNanosPerToken, decodeNanosPerToken, prefills, Delays.NONE);
        }

        public Engine {
            between("call_us", callMicros, Delays.MOST_MICROS);
            atLeast("prefill_ns_per_token", prefillNanosPerToken, 0);
            atLeast("decode_ns_per_token", decodeNanosPerToken, 0);
            atLeast("prefills", prefills, 0);
        }

        /** A copy with another cost of a token. */
        public Engine withPrefillNanosPerToken(long nanos) {
            return new Engine(callMicros, nanos, decodeNanosPerToken, prefills, calls);
        }

        /** A copy with calls that were measured. */
        public Engine with(Delays measured) {
            return new Engine(callMicros, prefillNanosPerToken, decodeNanosPerToken, prefills, measured);
        }

        /** A call that begins at {@code atMs} after the first request. */
        long callMicros(long atMs) {
            return calls.micros(atMs, callMicros);
        }
    }

    /** A node with PCIe 5, a local NVMe disk and a store over 25 Gbit/s; the shipped numbers of workers. */
    public static HardwareModel defaults() {
        return new HardwareModel(
                new Link(20, 40L << 30, 1, 32), new Link(20, 40L << 30, 1, 32), new Link(1_000, 750L << 20, 4, 16),
                new Link(1_500, 750L << 20, 2, 16), new Link(500, 1L << 30, 4, 16), new Link(100, 1_500L << 20, 4, 16),
                new Link(100, 750L << 20, 2, 16), new Log(3_000, 3_000, 100_000), new Engine(300, 100_000, 2_000_000, 0));
    }

    /** The links by name, in the order of {@link #LINKS}. */
    public Map<String, Link> links() {
        return Map.of("load", load, "save", save, "store_read", storeRead, "store_write", storeWrite, "store_probe", storeProbe, "disk_read",
                diskRead, "disk_write", diskWrite);
    }

    /** A copy with other links, by name. */
    public HardwareModel withLinks(Map<String, Link> others) {
        return new HardwareModel(
                others.getOrDefault("load", load), others.getOrDefault("save", save), others.getOrDefault("store_read", storeRead),
                others.getOrDefault("store_write", storeWrite), others.getOrDefault("store_probe", storeProbe),
                others.getOrDefault("disk_read", diskRead), others.getOrDefault("disk_write", diskWrite), log, engine);
    }

    /** A copy with another way of records. */
    public HardwareModel with(Log other) {
        return new HardwareModel(load, save, storeRead, storeWrite, storeProbe, diskRead, diskWrite, other, engine);
    }

    /** A copy with other engines. */
    public HardwareModel with(Engine other) {
        return new HardwareModel(load, save, storeRead, storeWrite, storeProbe, diskRead, diskWrite, log, other);
    }

    private static void between(String name, long value, long most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(name + " must be from 0 to " + most + ", not " + value);
        }
    }

    private static void atLeast(String name, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(name + " must be " + least + " or more, not " + value);
        }
    }
}
