/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import io.tierlog.ops.engine.workload.BlockKey;
import java.util.List;

/**
 * The device pages of one running request, in order of its blocks. Used by the request's thread; what is in it changes only in calls of that thread
 * to {@link DevicePool}.
 */
public final class BlockTable {
    private final Demand demand;
    private final int[] pages;
    private final long[] generations;
    private int matched;

    BlockTable(Demand demand) {
        this.demand = demand;
        this.pages = new int[demand.pages];
        this.generations = new long[demand.pages];
    }

    /**
     * What a request needs to run.
     *
     * @param owner names the request; unique among those that run
     * @param tenant whose blocks they are
     * @param keys keys of the whole blocks of the prompt
     * @param reusable most of them that may be matched
     * @param pages number of pages, prompt and answer
     */
    public record Demand(String owner, int tenant, List<BlockKey> keys, int reusable, int pages) {}

    /** What was asked for. */
    public Demand demand() {
        return demand;
    }

    /** Leading blocks that are hits in the device's own prefix cache. */
    public int matched() {
        return matched;
    }

    /** Page of block {@code index}. */
    public int page(int index) {
        return pages[index];
    }

    /** Generation of that page. */
    public long generation(int index) {
        return generations[index];
    }

    int size() {
        return pages.length;
    }

    void set(int index, int page, long generation) {
        pages[index] = page;
        generations[index] = generation;
    }

    void matched(int count) {
        matched = count;
    }
}
