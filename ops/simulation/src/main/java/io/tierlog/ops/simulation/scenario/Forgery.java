/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PromoteDone;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A completion that no agent sends: the last one of a node's operation of a kind, altered. Of the registered process it has the next number; of
 * another process a number that is far ahead.
 *
 * @param operation the operation that it names; empty for that of the completion
 * @param page page of every block; below 0 as it was
 * @param generation added to the generation of every block
 * @param count blocks that it names: the first ones, or the last one again; below 0 all of them
 * @param bytes bytes that it reports as moved; below 0 as they were
 * @param process that it comes from; empty for the registered one
 */
record Forgery(String node, OperationKind kind, String operation, int page, int generation, int count, long bytes, String process) {
    private static final int MOST = 1_000_000;
    private static final long FAR_AHEAD = 1_000;

    static Forgery read(ScenarioFile.Parser parser, OperationKind kind, Fields f) {
        return new Forgery(parser.node(f), kind, f.textOrEmpty("operation"), f.count("page", 0, MOST, -1), f.count("generation", 0, MOST, 0),
                f.count("count", 0, MOST, -1), f.number("bytes", 0, Long.MAX_VALUE, -1), f.textOrEmpty("process"));
    }

    /** Appends it; false when the node has completed no such operation. */
    boolean happen(World world, SimNode on) {
        List<Event> events = world.log().events(world.log().partitionOf(on.aggregate()));
        for (Event event : events.reversed()) {
            Function<Envelope, Event> forged = event.envelope().aggregate().equals(on.aggregate()) ? altered(event) : null;
            if (forged != null && process.isEmpty()) {
                return on.say(forged);
            } else if (forged != null) {
                Envelope e = event.envelope();
                world.appendOnce(forged.apply(new Envelope(e.aggregate(), "agent/" + node + "/" + process, e.incarnation(),
                        e.sequence() + FAR_AHEAD, 0, e.timeMs(), e.cause(), e.traceContext(), null)));
                return true;
            }
        }
        return false;
    }

    private @Nullable Function<Envelope, Event> altered(Event event) {
        return switch (event) {
            case WriteBackDone d when kind == OperationKind.WRITE_BACK -> e ->
                new WriteBackDone(e, of(d.operation()), d.namespace(), of(d.blocks()), of(d.movedBytes()), d.durationMicros());
            case PrefetchDone d when kind == OperationKind.PREFETCH -> e ->
                new PrefetchDone(e, of(d.operation()), d.lease(), d.namespace(), of(d.blocks()), of(d.movedBytes()), d.durationMicros());
            case PromoteDone d when kind == OperationKind.PROMOTE -> e ->
                new PromoteDone(e, of(d.operation()), d.lease(), d.namespace(), of(d.blocks()), d.awaited(), of(d.movedBytes()), d.durationMicros());
            case BackUpDone d when kind == OperationKind.BACK_UP -> e ->
                new BackUpDone(e, of(d.operation()), d.namespace(), of(d.blocks()), of(d.movedBytes()), d.durationMicros());
            case CopyDone d when kind == OperationKind.COPY -> e ->
                new CopyDone(e, of(d.operation()), d.source(), d.target(), d.namespace(), of(d.blocks()), of(d.movedBytes()), d.durationMicros());
            default -> null;
        };
    }

    private String of(String known) {
        return operation.isEmpty() ? known : operation;
    }

    private long of(long moved) {
        return bytes < 0 ? moved : bytes;
    }

    private List<BlockResult> of(List<BlockResult> results) {
        List<BlockResult> all = new ArrayList<>();
        for (int i = 0; i < (count < 0 || results.isEmpty() ? results.size() : count); i++) {
            BlockResult r = results.get(Math.min(i, results.size() - 1));
            int on = page < 0 ? r.page() : page;
            all.add(new BlockResult(r.block(), r.status(), r.reason(), on, r.generation() + generation, r.crc32c(), r.source()));
        }
        return all;
    }
}
