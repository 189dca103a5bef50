/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import io.tierlog.schemas.directory.Placement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Where blocks are, by what the log publishes of committed decisions: what a directory knows that has read all of it. For one thread.
 */
public final class DirectoryModel implements World.Watcher {
    /** Most blocks in one probe. */
    private static final int PROBE_BLOCKS = 128;

    private final World world;
    private final Map<Bytes, Placement> placements = new LinkedHashMap<>();

    /** Receives all records from now on. */
    public DirectoryModel(World world) {
        this.world = world;
    }

    /**
     * What was answered.
     *
     * @param found blocks that serve anywhere, count
     * @param notFound blocks that serve nowhere, count
     * @param probes probes that were sent to holders, count
     */
    public record Answer(int found, int notFound, int probes) {}

    @Override
    public void committed(int partition, long offset, Fact fact) {
        for (PlacementFeed.Publication publication : PlacementFeed.of(fact)) {
            Placement placement = publication.placement();
            if (placement == null) {
                placements.remove(publication.key());
            } else {
                placements.put(publication.key(), placement);
            }
        }
        if (fact instanceof NodeEnded ended) {
            placements.values().removeIf(one -> one.location().equals(ended.envelope().aggregate())
                    && one.holderIncarnation() <= ended.endedIncarnation());
        }
    }

    /** Hands over namespace and key of each block that it takes to be in the store. */
    public void inStore(BiConsumer<String, Bytes> each) {
        placements.values().stream().filter(one -> one.tier() == Tier.STORE).forEach(one -> each.accept(one.namespace(), one.block().key()));
    }

    /**
     * Where these blocks of a prompt are; those that only disks have are asked for at the node that has them, batch by batch: ID, ID/1 and so on are
     * the names of the probes.
     */
    public Answer exist(String id, Prompt prompt, List<Integer> indexes) {
        int found = 0;
        Map<String, List<Block>> wanted = new LinkedHashMap<>();
        for (int index : indexes) {
            Bytes key = prompt.keys().get(index);
            List<Placement> holders = placements.values().stream()
                    .filter(one -> one.namespace().equals(prompt.namespace()) && one.block().key().equals(key)).toList();
            found += holders.isEmpty() ? 0 : 1;
            if (holders.stream().noneMatch(one -> one.tier() == Tier.HOST)) {
                holders.stream().filter(one -> one.tier() == Tier.DISK).findFirst()
                        .ifPresent(one -> wanted.computeIfAbsent(one.location(), any -> new ArrayList<>()).add(one.block()));
            }
        }
        int probes = 0;
        for (Map.Entry<String, List<Block>> one : wanted.entrySet()) {
            List<Block> blocks = one.getValue();
            for (int from = 0; from < blocks.size(); from += PROBE_BLOCKS) {
                String probe = probes == 0 ? id : id + "/" + probes;
                world.operator().promote(
                        one.getKey(), probe, prompt.namespace(), blocks.subList(from, Math.min(blocks.size(), from + PROBE_BLOCKS)));
                probes++;
            }
        }
        return new Answer(found, indexes.size() - found, probes);
    }
}
