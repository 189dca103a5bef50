/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.trace;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.UnitWatch;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.GrantPeerRead;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PeerReadEnded;
import io.tierlog.schemas.event.TerminalEvent;
import io.tierlog.traces.TraceText;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Spans of the operations that traced commands begin, from the command to its terminal event. The units of an operation are one child span for each
 * port that moved them, so an operation has at most five spans however many blocks it moves. For the core's one thread.
 */
final class OperationSpans implements UnitWatch {
    private static final int MOST = 8_192;

    private final SpanMaker maker;
    private final Map<String, Operation> operations = new Eldest<>(MOST);
    private final Map<Long, Unit> units = new Eldest<>(MOST);

    private record Operation(Span span, String name, Map<String, Moved> moved) {}

    private record Unit(Operation operation, long startNs, int blocks) {}

    /** All units of an operation over one port. */
    private static final class Moved {
        private final long startNs;
        private long endNs;
        private int units;
        private int blocks;
        private long failed;

        Moved(long startNs) {
            this.startNs = startNs;
        }
    }

    /** What a command begins. */
    private record Begun(String id, String name, int blocks) {}

    OperationSpans(SpanMaker maker) {
        this.maker = maker;
    }

    /** A sampled command has come. */
    void command(Command command) {
        @Nullable Begun begun = switch (command) {
            case PrefetchBlocks c -> new Begun(c.operation(), "tierlog.prefetch", c.blocks().size());
            case WriteBackBlocks c -> new Begun(c.operation(), "tierlog.write_back", c.blocks().size());
            case BackUpBlocks c -> new Begun(c.operation(), "tierlog.back_up", c.blocks().size());
            case CopyBlocks c -> new Begun(c.operation(), "tierlog.copy", c.blocks().size());
            case DropBlocks c -> new Begun(c.operation(), "tierlog.drop", c.blocks().size());
            case PromoteBlocks c -> new Begun(c.operation(), "tierlog.promote", c.blocks().size());
            case GrantPeerRead c -> new Begun(c.grant(), "tierlog.peer_read", c.blocks().size());
            // Begins no work that takes time.
            default -> null;
        };
        if (begun != null && !operations.containsKey(begun.id())) {
            Span span = maker.begin(begun.name(), SpanKind.CONSUMER, TraceText.read(command.envelope().traceContext()))
                    .setAttribute("tierlog.operation", begun.id())
                    .setAttribute("tierlog.command", command.header().command())
                    .setAttribute("tierlog.blocks", begun.blocks());
            operations.put(begun.id(), new Operation(span, begun.name(), new TreeMap<>()));
        }
    }

    @Override
    public void begun(String operation, long unit, int blocks) {
        Operation known = operations.get(operation);
        if (known != null) {
            units.put(unit, new Unit(known, maker.now(), blocks));
        }
    }

    /** A unit is idle. */
    void unitEnded(long number, List<UnitResult> results, String port) {
        Unit unit = units.remove(number);
        if (unit != null) {
            Moved moved = unit.operation().moved().computeIfAbsent(port, any -> new Moved(unit.startNs()));
            moved.endNs = maker.now();
            moved.units++;
            moved.blocks += unit.blocks();
            moved.failed += results.stream().filter(result -> result.status() == BlockStatus.FAILED).count();
        }
    }

    /** Sees an event before it goes to the log. */
    void event(Event event) {
        switch (event) {
            case TerminalEvent e -> ended(e.operation(), e.blocks(), null);
            case CommandRefused e when e.operation() != null -> ended(e.operation(), List.of(), e.reason().name());
            case PeerReadEnded e -> ended(e.grant(), List.of(), null);
            // Ends no operation.
            default -> {}
        }
    }

    private void ended(String id, List<BlockResult> blocks, @Nullable String refused) {
        Operation operation = operations.remove(id);
        if (operation == null) {
            return;
        }
        Span span = operation.span();
        operation.moved().forEach((port, moved) -> maker.beginAt(operation.name() + "." + port, SpanKind.CLIENT, span.getSpanContext(), moved.startNs)
                .setAttribute("tierlog.units", moved.units)
                .setAttribute("tierlog.blocks", moved.blocks)
                .setAttribute("tierlog.blocks.failed", moved.failed)
                .end(moved.endNs, TimeUnit.NANOSECONDS));
        long failed = blocks.stream().filter(block -> block.status() == BlockStatus.FAILED).count();
        span.setAttribute("tierlog.blocks.failed", failed);
        if (refused != null) {
            span.setStatus(StatusCode.ERROR, refused);
        } else if (failed > 0 && failed == blocks.size()) {
            span.setStatus(StatusCode.ERROR, blocks.getFirst().reason().name());
        }
        maker.end(span);
    }
}
