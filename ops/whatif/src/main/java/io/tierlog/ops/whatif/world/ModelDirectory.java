/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.ops.whatif.world.ModelPorts.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which nodes have which blocks, on any tier of theirs, by committed decisions: what a directory knows that has read all of them. For one thread. */
final class ModelDirectory {
    private final Map<BlockName, Set<String>> copies = new HashMap<>();

    void decided(Fact fact) {
        switch (fact) {
            case BlocksPlaced f when isNode(f) -> f.blocks().forEach(block -> copies
                    .computeIfAbsent(new BlockName(f.namespace(), block.block().key()), _ -> new HashSet<>())
                    .add(copy(f, f.tier().name())));
            case BlocksRemoved f when isNode(f) -> f.blocks().forEach(block -> copies.computeIfPresent(
                    new BlockName(f.namespace(), block.key()), (_, at) -> at.remove(copy(f, f.tier().name())) && at.isEmpty() ? null : at));
            default -> {}
        }
    }

    private static boolean isNode(Fact fact) {
        return fact.envelope().aggregate().startsWith("node/");
    }

    private static String copy(Fact fact, String tier) {
        return fact.envelope().aggregate().substring("node/".length()) + "/" + tier;
    }

    /** Leading blocks of a prompt that a node has. */
    int leading(String node, String namespace, List<Bytes> keys) {
        String prefix = node + "/";
        int count = 0;
        while (count < keys.size()
                && copies.getOrDefault(new BlockName(namespace, keys.get(count)), Set.of()).stream().anyMatch(at -> at.startsWith(prefix))) {
            count++;
        }
        return count;
    }
}
