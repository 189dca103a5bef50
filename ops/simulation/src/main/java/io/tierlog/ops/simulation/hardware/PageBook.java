/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.hardware;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.PromoteFailed;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.event.WriteBackFailed;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The host pages of each operation, by the events of one agent process at the moment it emits them: from an operation's start to its terminal event
 * a destination has one owner (I2), and no unit writes to a page without an operation. For one thread.
 */
final class PageBook {
    private final String node;
    private final @Nullable String[] holders;
    private final Map<String, List<PagedBlock>> taken = new LinkedHashMap<>();
    private final Set<String> promotions = new LinkedHashSet<>();
    /** By page of the host: what the operation is that has begun last to read it. */
    private final Map<Integer, OperationKind> readers = new LinkedHashMap<>();

    PageBook(String node, int pages) {
        this.node = node;
        this.holders = new @Nullable String[pages];
    }

    /** The agent emits an event. */
    void emitted(Event event) {
        switch (event) {
            case OperationStarted e when e.kind() == OperationKind.PREFETCH || e.kind() == OperationKind.WRITE_BACK
                    || e.kind() == OperationKind.PROMOTE -> take(e);
            case OperationStarted e when e.kind() == OperationKind.COPY || e.kind() == OperationKind.BACK_UP -> read(e);
            case PromoteDone e -> giveBack(e.operation());
            case PromoteFailed e -> giveBack(e.operation());
            case PrefetchDone e -> giveBack(e.operation());
            case PrefetchFailed e -> giveBack(e.operation());
            case WriteBackDone e -> giveBack(e.operation());
            case WriteBackFailed e -> giveBack(e.operation());
            case OperationCancelled e -> giveBack(e.operation());
            // The operations of an epoch that was declared dead have ended, and nothing was reported of them.
            case AgentRegistering _ -> List.copyOf(taken.keySet()).forEach(this::giveBack);
            default -> {}
        }
    }

    private void take(OperationStarted e) {
        for (PagedBlock block : e.pages()) {
            String holder = holders[block.page()];
            if (holder != null) {
                throw new IllegalStateException("I2: host page " + block.page() + " of " + node + " is given to " + e.operation() + " before "
                        + holder
                        + " has had its end");
            }
            holders[block.page()] = e.operation();
        }
        taken.put(e.operation(), e.pages());
        if (e.kind() == OperationKind.PROMOTE) {
            promotions.add(e.operation());
        }
    }

    private void giveBack(String operation) {
        List<PagedBlock> pages = taken.remove(operation);
        promotions.remove(operation);
        if (pages != null) {
            pages.forEach(block -> holders[block.page()] = null);
        }
    }

    private void read(OperationStarted e) {
        e.pages().stream().filter(page -> page.page() >= 0).forEach(page -> readers.put(page.page(), e.kind()));
    }

    /** Whether the operation that has begun last with that page as its source is a copy to another tier. */
    boolean isCopied(int page) {
        return readers.get(page) == OperationKind.COPY;
    }

    /** Whether a promotion has the page in its hands. */
    boolean isPromoted(int page) {
        String holder = holders[page];
        return holder != null && promotions.contains(holder);
    }

    /** A unit is about to write to a page. */
    void written(int page) {
        if (holders[page] == null) {
            throw new IllegalStateException("I2: host page " + page + " of " + node + " is written to, and no operation has taken it");
        }
    }
}
