/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What serves on the host when the agent registers, which is something only when an earlier epoch of the same process has ended, and what of it
 * {@link StoreLook} has seen in the store. Without state.
 *
 * <p>All of it goes to the log at once, since the next heartbeat counts the pages. Trade-off: the bytes are not read for it; like the bytes of any
 * page, each read compares them with their checksum. A host of very many blocks evicts the coldest before it reports.
 */
final class HostReport {
    /** Most blocks of a host that stay through a registration: at 100 bytes each they fit the bound of the events that wait for brokers. */
    private static final int MOST_BLOCKS = 300_000;

    private HostReport() {}

    static void append(AgentContext context) {
        int over = context.pages().capacity() - MOST_BLOCKS;
        context.pages().makeFree(over).ifPresent(gone -> context.appendEvicted("", gone));
        Map<String, List<Page>> byNamespace = new LinkedHashMap<>();
        List<Page> held = context.pages().allServing().stream().sorted(Comparator.comparingInt(page -> page.block().index())).toList();
        held.forEach(page -> byNamespace.computeIfAbsent(page.namespace(), any -> new ArrayList<>()).add(page));
        long remaining = held.size();
        for (Map.Entry<String, List<Page>> one : byNamespace.entrySet()) {
            for (List<Page> step : steps(one.getValue(), context.limits().disk().recoveredPerRecord())) {
                remaining -= step.size();
                long left = remaining;
                List<PagedBlock> blocks = step.stream().map(Page::paged).toList();
                context.append("", e -> new BlocksRecovered(e, Tier.HOST, one.getKey(), blocks, left));
                List<Block> stored = step.stream().filter(Page::heldInStore).map(Page::block).toList();
                if (!stored.isEmpty()) {
                    context.append("", e -> new BlocksSeenStored(e, one.getKey(), stored));
                }
            }
        }
    }

    private static List<List<Page>> steps(List<Page> pages, int most) {
        List<List<Page>> steps = new ArrayList<>();
        for (int from = 0; from < pages.size(); from += most) {
            steps.add(pages.subList(from, Math.min(from + most, pages.size())));
        }
        return steps;
    }
}
