/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Other nodes in memory: what they have, and what they share; answers at once. One thread. */
public final class PeerTable implements PeerFinder, PeerTransfers {
    private final String self;
    private final List<Copy> copies;
    private final Function<Integer, Bytes> keyOf;
    private final Function<Integer, byte[]> pages;
    private final Consumer<AgentInput> completions;
    private final Map<String, Map<Bytes, byte[]>> grants = new LinkedHashMap<>();

    /** A node has the first blocks of the prompt of namespace m on a tier. */
    public record Copy(String node, Tier tier, int blocks) {}

    /** Nodes that have {@code copies}; {@code pages} are those of the node that reads. */
    public PeerTable(
            String self, List<Copy> copies, Function<Integer, Bytes> keyOf, Function<Integer, byte[]> pages, Consumer<AgentInput> completions) {
        this.self = self;
        this.copies = copies;
        this.keyOf = keyOf;
        this.pages = pages;
        this.completions = completions;
    }

    /** Node e has no peer API. */
    public static boolean isReadable(String node) {
        return !node.equals("e");
    }

    /** Blocks of {@code keys} that a copy has from the first on. */
    public int run(Copy copy, String namespace, int firstIndex, List<Bytes> keys) {
        int run = 0;
        while (namespace.equals("m") && run < keys.size() && firstIndex + run < copy.blocks()
                && keyOf.apply(firstIndex + run).equals(keys.get(run))) {
            run++;
        }
        return run;
    }

    @Override
    public void find(long unit, String namespace, int firstIndex, List<Bytes> keys) {
        Map<String, Holder> holders = new LinkedHashMap<>();
        for (Copy copy : copies) {
            int run = run(copy, namespace, firstIndex, keys);
            boolean readable = isReadable(copy.node()) && !copy.node().equals(self) && copy.tier() != Tier.DEVICE;
            Holder before = holders.get(copy.node());
            if (readable && run > 0 && (before == null || run > before.blocks())) {
                holders.put(copy.node(), new Holder(copy.node(), copy.node() + ":7000", copy.tier(), run));
            }
        }
        completions.accept(new PeersFound(unit, List.copyOf(holders.values())));
    }

    /** Leases blocks under a name. */
    public void lease(String grant, Map<Bytes, byte[]> blocks) {
        grants.put(grant, blocks);
    }

    @Override
    public void read(long unit, PeerHolder holder, String namespace, List<PeerPage> pagesTo) {
        List<UnitResult> results = new ArrayList<>();
        Map<Bytes, byte[]> leased = grants.getOrDefault(holder.grant(), Map.of());
        boolean all = pagesTo.stream().allMatch(page -> leased.containsKey(page.key()));
        for (PeerPage page : pagesTo) {
            byte @Nullable [] bytes = leased.get(page.key());
            if (!holder.address().startsWith("a:") || !all || bytes == null) {
                OperationReason why = holder.address().startsWith("a:") ? OperationReason.NOT_SERVING : OperationReason.IO;
                results.add(new UnitResult(BlockStatus.FAILED, why, 0));
            } else {
                System.arraycopy(bytes, 0, pages.apply(page.hostPage()), 0, bytes.length);
                results.add(new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc32c(bytes)));
            }
        }
        completions.accept(new PeerUnitEnded(unit, results));
    }

    /** Checksum of bytes. */
    public static int crc32c(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
