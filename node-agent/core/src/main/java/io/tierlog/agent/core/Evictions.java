/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.page.PageTable.Evicted;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksEvicted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Evicts blocks that a caller names, though the tier has capacity. One call, on the core's one thread. */
final class Evictions {
    private final AgentContext context;
    private final Tier tier;
    private final String namespace;

    Evictions(AgentContext context, Tier tier, String namespace) {
        if (tier != Tier.HOST && tier != Tier.DISK) {
            throw new IllegalArgumentException("an agent evicts blocks of HOST and DISK, not of " + tier);
        }
        this.context = context;
        this.tier = tier;
        this.namespace = namespace;
    }

    /** From the end of a prefix to its beginning; the answers in the order of the keys. */
    List<OperationReason> run(List<Bytes> keys) {
        OperationReason[] answers = new OperationReason[keys.size()];
        Arrays.fill(answers, OperationReason.NOT_SERVING);
        IntStream.range(0, keys.size())
                .boxed()
                .sorted(Comparator.comparingInt((Integer i) -> indexOf(keys.get(i))).reversed())
                .forEach(i -> answers[i] = tier == Tier.HOST ? fromHost(keys.get(i)) : fromDisk(keys.get(i)));
        return List.of(answers);
    }

    private int indexOf(Bytes key) {
        Optional<Integer> index = tier == Tier.HOST
                ? context.pages().serving(namespace, key).map(page -> page.block().index())
                : context.disk().serving(namespace, key).map(copy -> copy.block().index());
        return index.orElse(-1);
    }

    private OperationReason fromHost(Bytes key) {
        Optional<Page> page = context.pages().serving(namespace, key);
        if (page.isEmpty()) {
            return OperationReason.NOT_SERVING;
        }
        if (!page.get().pins().isEmpty() || !context.pages().isLeaf(page.get())) {
            return OperationReason.PINNED;
        }
        Evicted gone = new Evicted(namespace, page.get().paged(), !page.get().heldElsewhere());
        context.pages().leave(page.get());
        context.appendEvicted("", List.of(gone));
        return OperationReason.COMPLETED;
    }

    private OperationReason fromDisk(Bytes key) {
        Optional<DiskPlacement> copy = context.disk().serving(namespace, key);
        if (copy.isEmpty()) {
            return OperationReason.NOT_SERVING;
        }
        if (!copy.get().pins().isEmpty() || context.disk().index().children(copy.get()) > 0) {
            return OperationReason.PINNED;
        }
        List<PagedBlock> gone = new ArrayList<>(List.of(copy.get().paged()));
        context.disk().leave(copy.get());
        context.disk().index().removalReported(copy.get());
        context.disk().dropLater(copy.get(), copy.get().generation());
        context.append("", e -> new BlocksEvicted(e, Tier.DISK, namespace, RemovalReason.PRESSURE, gone));
        return OperationReason.COMPLETED;
    }
}
