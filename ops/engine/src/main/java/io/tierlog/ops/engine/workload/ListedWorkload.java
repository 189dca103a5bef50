/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A workload held in memory as numbers: 8 bytes a block. Keys are derived when a request is asked for, so that a million requests fit.
 * Immutable once built; any thread may read it.
 */
final class ListedWorkload implements Workload {
    private final String name;
    private final int blockTokens;
    private final List<String> tenants;
    private final List<Entry> entries;

    private ListedWorkload(String name, int blockTokens, List<String> tenants, List<Entry> entries) {
        this.name = name;
        this.blockTokens = blockTokens;
        this.tenants = List.copyOf(tenants);
        this.entries = List.copyOf(entries);
    }

    /** One request; {@code ids} are those of the prompt, then those of the generated blocks. */
    private record Entry(Head head, Request.Shape shape, BlockIds ids) {}

    /** What is not about tokens. */
    record Head(int tenant, long arrivalMs, boolean reuseEligible, int predecessor) {}

    /** Numbers of the blocks of a request. Not copied: the builder gives them away. */
    @SuppressWarnings("ArrayRecordComponent") // private to the package, never compared, half the memory of a list of boxes
    record BlockIds(long[] prompt, long[] generated) {}

    /** Collects requests in order of arrival. Not thread-safe. */
    static final class Builder {
        private final List<Entry> entries = new ArrayList<>();
        private long lastArrivalMs;

        void add(Head head, Request.Shape shape, BlockIds ids) {
            if (head.arrivalMs() < lastArrivalMs) {
                throw new IllegalArgumentException("request " + entries.size() + " comes before its predecessor");
            }
            lastArrivalMs = head.arrivalMs();
            entries.add(new Entry(head, shape, ids));
        }

        int size() {
            return entries.size();
        }

        Workload build(String name, int blockTokens, List<String> tenants) {
            return new ListedWorkload(name, blockTokens, tenants, entries);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int blockTokens() {
        return blockTokens;
    }

    @Override
    public List<String> tenants() {
        return tenants;
    }

    @Override
    public int size() {
        return entries.size();
    }

    @Override
    public Request request(int index) {
        Entry entry = entries.get(index);
        Head head = entry.head;
        return new Request(
                index,
                head.tenant,
                head.arrivalMs,
                entry.shape,
                keys(entry.ids.prompt),
                keys(entry.ids.generated),
                head.reuseEligible,
                head.predecessor);
    }

    private static List<BlockKey> keys(long[] ids) {
        return Arrays.stream(ids).mapToObj(BlockKey::of).toList();
    }
}
