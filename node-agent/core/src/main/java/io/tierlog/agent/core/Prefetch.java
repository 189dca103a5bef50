/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import java.util.List;

/**
 * Store to host for a waiting request. What arrived as a contiguous run from the first block on serves at the end, leased to the request if it
 * still waits; the rest goes back. What lands after a cancel goes back too.
 */
final class Prefetch extends Session {
    private final HostFill fill;
    private final Requests requests;
    private final LiveAttempt attempt;
    private final String lease;
    private final long leaseMs;

    Prefetch(Desk desk, HostFill fill, Requests requests, LiveAttempt attempt, PrefetchBlocks command, List<Item> items) {
        super(desk, command.operation(), command.header().command(), command.namespace(), items, State.RUNNING);
        this.fill = fill;
        this.requests = requests;
        this.attempt = attempt;
        this.lease = command.lease();
        this.leaseMs = command.leaseMs();
    }

    @Override
    OperationKind kind() {
        return OperationKind.PREFETCH;
    }

    @Override
    void send(long unit, List<Item> batch) {
        fill.begin(batch);
        desk.ports.store().read(
                unit, namespace, batch.stream().map(item -> new PageObject(item.block.key(), item.requirePage().number(), 0)).toList());
    }

    @Override
    void arrived(Item item, UnitResult result) {
        desk.counters.increment(AgentCounter.FETCHED_BLOCKS);
        item.arrived(result.crc32c());
    }

    @Override
    void failed(Item item, OperationReason why) {
        if (why == OperationReason.CHECKSUM) {
            desk.counters.increment(AgentCounter.CHECKSUM_FAILURES);
        }
        item.failed(why);
    }

    @Override
    void unknown(Item item, Quarantine.Case held) {
        fill.quarantine(item, held, OperationReason.IO);
    }

    @Override
    void joinEnded(Item item, boolean serves, OperationReason whyNot) {
        fill.joinEnded(item, operation, serves, whyNot);
    }

    @Override
    void cancelled(OperationReason why) {
        useless(why);
    }

    @Override
    void end() {
        int run = doneRun();
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            if (item.ownsPage() && i < run) {
                fill.publish(item, operation, true);
            } else if (item.ownsPage()) {
                if (item.done()) {
                    item.failed(OperationReason.PREFIX_GONE);
                }
                fill.discard(item);
            }
        }
        boolean leased = run > 0 && attempt.awaits(this);
        if (leased) {
            items.subList(0, run).forEach(item -> desk.pages.pin(lease, item.requirePage()));
            desk.pages.endPinsAt(lease, desk.nowMs() + leaseMs);
            attempt.leased(lease);
        }
        desk.pages.unpinAll(operation);
        tellEnd(run, leased);
        requests.fetchEnded(attempt, this, run == items.size());
    }

    private void tellEnd(int run, boolean leased) {
        List<BlockResult> results = resultsOnHost();
        long bytes = movedBytes();
        long micros = durationMicros();
        OperationReason why = firstFailure();
        if (cancelling()) {
            desk.end(operation, cause, results.size(),
                    e -> new OperationCancelled(e, operation, OperationReason.CANCELLED, namespace, results));
        } else if (run > 0) {
            desk.end(operation, cause, results.size(),
                    e -> new PrefetchDone(e, operation, leased ? lease : null, namespace, results, bytes, micros));
        } else {
            desk.end(operation, cause, results.size(), e -> new PrefetchFailed(e, operation, why, namespace, results));
        }
    }
}
