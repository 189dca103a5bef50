/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.events.Partitions;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The events of requests, each with a prompt of its own: derived from a number, the same in every run. Immutable.
 *
 * <p>Envelopes are blank: the sender stamps them.
 *
 * @param blocks whole blocks of each prompt
 */
record Workload(int blocks) implements Agent.Course {
    static final String NAMESPACE = "model=bench/dtype=bf16/layout=1/tenant=none/adapter=none";

    /** Length of a key: that of SHA-256, the longest in use. */
    private static final int KEY_BYTES = 32;

    private static final int BLOCK_TOKENS = 16;
    private static final int GENERATED_TOKENS = 32;
    static final int FIRST_ATTEMPT = 1;
    private static final Envelope BLANK = new Envelope("", "", 0, 0, 0, 0, null, null, null);
    private static final String REQUEST = "r";

    /** The request with this number waits, with nothing on device and host, and {@code inStore} leading blocks in the store. */
    RequestSubmitted submitted(long number, int inStore) {
        List<Bytes> keys = new ArrayList<>(blocks);
        for (int index = 0; index < blocks; index++) {
            keys.add(key(number, index));
        }
        return submitted(REQUEST + number, keys, List.of(), 0, inStore);
    }

    /** A request waits that reuses blocks of its prompt on the host, and so many of those from {@code storeFrom} on in the store. */
    static RequestSubmitted submitted(String request, List<Bytes> keys, List<Integer> onHost, int storeFrom, int inStore) {
        return new RequestSubmitted(
                BLANK,
                request,
                FIRST_ATTEMPT,
                NAMESPACE,
                keys,
                // One token more, so that all whole blocks are reusable: the last token is always computed.
                keys.size() * BLOCK_TOKENS + 1,
                BLOCK_TOKENS,
                0,
                onHost,
                List.of(),
                storeFrom,
                inStore,
                true,
                false,
                false,
                List.of(),
                null);
    }

    /** Its prompt has been prefilled, after {@code loaded} blocks were loaded from the host, and {@code computed} computed. */
    static Event prefilled(String request, int loaded, int computed) {
        return new RequestPrefilled(BLANK, request, FIRST_ATTEMPT, 0, loaded, computed);
    }

    @Override
    public List<Event> fetched(String request, int fetched) {
        return List.of(prefilled(request, fetched, Math.max(1, blocks + 1 - fetched)), finished(request));
    }

    /** It has ended. */
    static Event finished(String request) {
        return new RequestFinished(BLANK, request, FIRST_ATTEMPT, RequestReason.COMPLETED, GENERATED_TOKENS);
    }

    static Envelope blank() {
        return BLANK;
    }

    /** Id of the request with this number. */
    static String request(long number) {
        return REQUEST + number;
    }

    /** The number of the request with this id; -1 for a request that is not of the benchmark. */
    static long number(String request) {
        try {
            return request.startsWith(REQUEST) ? Long.parseLong(request, REQUEST.length(), request.length(), 10) : -1;
        } catch (NumberFormatException foreign) {
            return -1;
        }
    }

    /** Names of {@code count} nodes, the n-th of which belongs in partition n modulo {@code partitions}. */
    static List<String> nodes(int count, int partitions) {
        List<String> nodes = new ArrayList<>(count);
        for (int n = 0; nodes.size() < count; n++) {
            String node = "bench-" + n;
            if (Partitions.of(aggregate(node), partitions) == nodes.size() % partitions) {
                nodes.add(node);
            }
        }
        return nodes;
    }

    static String aggregate(String node) {
        return "node/" + node;
    }

    /** The key of a block of the prompt with this number. */
    static Bytes key(long number, int index) {
        ByteBuffer key = ByteBuffer.allocate(KEY_BYTES);
        long seed = number * 0x9E37_79B9_7F4A_7C15L + index;
        while (key.hasRemaining()) {
            seed = mix(seed + 0x9E37_79B9_7F4A_7C15L);
            key.putLong(seed);
        }
        return Bytes.wrapUnshared(key.array());
    }

    /** The finaliser of SplitMix64: neighbours give unlike keys, as a hash would. */
    private static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }
}
