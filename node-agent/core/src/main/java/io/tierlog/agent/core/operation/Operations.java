/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.time.Deadlines;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The operations in progress: gives their blocks to the ports in bounded units, loads before saves, and ends each exactly once, when none of its
 * bytes moves.
 *
 * <p>An operation may wait for a page that an earlier one fills (it joined it). Joins only point back in time, so operations never wait in a
 * circle. For the core's one thread.
 */
public final class Operations implements Component {
    /** Overdue units of one direction from which on it gets no more: what it would do with more pages is unknown too. */
    private static final int MOST_OVERDUE = 4;

    /** One queue of a port: what it reads or asks stands behind nothing that it writes or drops, so one may hang and the other not. */
    private record Direction(TransferPort port, boolean reads) {}

    private record Unit(TransferSession session, List<BlockTransfer> items, TransferPort stream) {
        Direction direction() {
            return new Direction(stream, session instanceof Fetch || session instanceof StoreCheck);
        }
    }

    /** A unit that its port has not reported and that no operation waits for; overdue once its time is over. */
    private record LeftBehind(Direction direction, boolean overdue) {}

    /** A load of which some blocks may still be moving. */
    private record Doubtful(Unit unit, List<UnitResult> results) {}

    private record Join(TransferSession session, BlockTransfer item) {}

    private static final UnitResult NO_RESULT = new UnitResult(BlockStatus.UNKNOWN, OperationReason.UNKNOWN, 0);
    private static final List<OperationKind> ORDER = List.of(
            OperationKind.LOAD_BACK,
            OperationKind.PREFETCH,
            OperationKind.WRITE_BACK,
            OperationKind.PROMOTE,
            OperationKind.COPY,
            OperationKind.DROP,
            OperationKind.BACK_UP);

    private final AgentContext context;
    private final Quarantine quarantine;
    private final SequencedMap<String, TransferSession> sessions = new LinkedHashMap<>();
    private final Map<OperationKind, Deque<TransferSession>> lanes = new EnumMap<>(OperationKind.class);
    /** Moves to the device that no request waits for: after those of requests. */
    private final Deque<TransferSession> outside = new ArrayDeque<>();
    private final Map<OperationKind, Integer> underWay = new EnumMap<>(OperationKind.class);
    /** Units that are read from other nodes: they may wait for a peer read lease, so they have a limit of their own. */
    private int peerUnitsUnderWay;
    private final Map<Long, Unit> units = new LinkedHashMap<>();
    private final Deadlines<Long> unitEnds = new Deadlines<>();
    private final Map<Long, LeftBehind> leftBehind = new LinkedHashMap<>();
    private final TreeMap<Long, Doubtful> doubtful = new TreeMap<>();
    private final Map<Page, List<Join>> joins = new LinkedHashMap<>();
    private final Deque<TransferSession> toSettle = new ArrayDeque<>();
    private Consumer<TransferSession> onEnd = session -> {};
    private boolean settling;

    public Operations(AgentContext context) {
        this.context = context;
        this.quarantine = new Quarantine(context);
        for (OperationKind kind : ORDER) {
            lanes.put(kind, new ArrayDeque<>());
            underWay.put(kind, 0);
        }
    }

    /** Calls {@code listener} at the end of every session, also of one that never began. */
    public void onEnd(Consumer<TransferSession> listener) {
        onEnd = listener;
    }

    // --- looking

    public int active() {
        return sessions.size();
    }

    public boolean full() {
        return sessions.size() >= context.limits().bounds().operations();
    }

    public Optional<TransferSession> find(String operation) {
        return Optional.ofNullable(sessions.get(operation));
    }

    public List<TransferSession> all() {
        return List.copyOf(sessions.values());
    }

    /** True while a unit moves bytes from or to device pages. */
    public boolean deviceBusy() {
        return !doubtful.isEmpty() || units.values().stream().anyMatch(unit -> unit.stream == TransferPort.DEVICE);
    }

    /** True when another operation waits for that page. */
    public boolean isJoined(Page page) {
        return joins.containsKey(page);
    }

    /** True when another operation waits for one of these pages. */
    public boolean isJoined(TransferSession session) {
        return session.items.stream().map(BlockTransfer::page).anyMatch(joins::containsKey);
    }

    private int underWay(OperationKind kind) {
        return underWay.getOrDefault(kind, 0);
    }

    // --- begin and end of a session

    /** Registers a session; one that waits for capacity begins later. */
    public void add(TransferSession session) {
        sessions.put(session.operation, session);
        if (session.state() == TransferSession.State.RUNNING) {
            begin(session);
        }
    }

    /** Begins a session that has all its pages. */
    public void begin(TransferSession session) {
        session.begin();
        for (BlockTransfer item : session.items) {
            if (item.state() == BlockTransfer.State.JOINED) {
                context.counters().increment(AgentCounter.BLOCKS_JOINED);
                joins.computeIfAbsent(item.requirePage(), any -> new ArrayList<>(1)).add(new Join(session, item));
            }
        }
        lane(session).add(session);
        settle(session);
    }

    /** Begins no further unit of it; it ends once its units under way are idle. */
    public void cancel(TransferSession session, OperationReason why) {
        if (session.state() != TransferSession.State.RUNNING) {
            return;
        }
        session.become(TransferSession.State.CANCELLING);
        session.cancelled(why);
        session.failPending(why);
        stopWaiting(session, why);
    }

    /** Cancels every operation that a command began. */
    public void cancelAllButLoads(OperationReason why) {
        all().stream().filter(session -> session.kind() != OperationKind.LOAD_BACK).forEach(session -> cancel(session, why));
    }

    /** True when no operation that a command began is in progress. */
    public boolean onlyLoads() {
        return sessions.values().stream().allMatch(session -> session.kind() == OperationKind.LOAD_BACK);
    }

    /** Ends the wait for blocks that other operations bring. */
    public void stopWaiting(TransferSession session, OperationReason why) {
        for (BlockTransfer item : session.items) {
            if (item.state() == BlockTransfer.State.JOINED) {
                leaveJoin(session, item);
                session.joinEnded(item, false, why);
                session.unjoined();
            }
        }
        settle(session);
    }

    /** What still arrives has no use; the session ends with this reason once its units under way are idle. */
    public void abandon(TransferSession session, OperationReason why) {
        if (session.state() == TransferSession.State.RUNNING) {
            session.useless(why);
            session.failPending(why);
            settle(session);
        }
    }

    /** The engine whose pages it reads has gone: what has not left them never will. */
    public void engineGone(TierCopy copy) {
        copy.engineGone();
        settle(copy);
    }

    /** Abandons copies that wait for a bounce page when none can come free. */
    public void abandonStuckCopies() {
        if (context.bounce().stuck()) {
            for (TransferSession session : all()) {
                if (session.hasPending() && !session.ready()) {
                    abandon(session, OperationReason.NO_ROOM);
                }
            }
        }
    }

    /** Forgets a session that never began; the caller has reported its end. */
    public void remove(TransferSession session) {
        session.become(TransferSession.State.ENDED);
        sessions.remove(session.operation);
        onEnd.accept(session);
    }

    /** The page serves now, or it was freed: operations that joined it continue. */
    void pageSettled(Page page, boolean serves, OperationReason whyNot) {
        List<Join> waiting = joins.remove(page);
        if (waiting != null) {
            for (Join join : waiting) {
                join.session().joinEnded(join.item(), serves, whyNot);
                join.session().unjoined();
                if (join.session().hasPending() && !lane(join.session()).contains(join.session())) {
                    lane(join.session()).add(join.session()); // now it has something to move
                }
                settle(join.session());
            }
        }
    }

    private void leaveJoin(TransferSession session, BlockTransfer item) {
        List<Join> waiting = joins.get(item.requirePage());
        if (waiting != null) {
            waiting.removeIf(join -> join.session() == session);
            if (waiting.isEmpty()) {
                joins.remove(item.requirePage());
            }
        }
    }

    /** Ends the session if it is idle. One end may settle another; they are taken in turn, not within each other. */
    private void settle(TransferSession session) {
        toSettle.add(session);
        if (settling) {
            return;
        }
        settling = true;
        for (TransferSession one = toSettle.poll(); one != null; one = toSettle.poll()) {
            if (one.state() != TransferSession.State.ENDED && one.idle()) {
                sessions.remove(one.operation);
                one.end();
                one.become(TransferSession.State.ENDED);
                quarantine.ended(one);
                onEnd.accept(one);
            }
        }
        settling = false;
    }

    // --- units

    /** The store has answered a probe of an operation; false when the probe was not for one. */
    public boolean probed(StoreProbed in) {
        Unit probe = units.get(in.unit());
        if (probe == null) {
            if (reported(in.unit(), TransferPort.STORE)) {
                context.counters().increment(AgentCounter.LATE_COMPLETIONS);
                return true;
            }
            return false;
        }
        context.counters().add(AgentCounter.PROBES_UNANSWERED, in.reachable() ? 0 : 1);
        List<UnitResult> results = new ArrayList<>(probe.items.size());
        for (int i = 0; i < probe.items.size(); i++) {
            OperationReason lacks = i == in.present() ? OperationReason.NOT_IN_STORE : StoreCheck.NOT_REACHED;
            results.add(!in.reachable() ? new UnitResult(BlockStatus.FAILED, OperationReason.STORE_UNAVAILABLE, 0)
                    : i < in.present() ? new UnitResult(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, 0)
                    : new UnitResult(BlockStatus.FAILED, lacks, 0));
        }
        unitEnded(in.unit(), results, TransferPort.STORE);
        return true;
    }

    /** Hands out units as far as the limits allow. */
    public void pump() {
        for (OperationKind kind : ORDER) {
            for (TransferSession session = nextWithSlot(kind); session != null; session = nextWithSlot(kind)) {
                List<BlockTransfer> batch = session.takeUnit(session.unitBlocks(context.limits().units().blocks()));
                long unit = context.nextUnit();
                Unit begun = new Unit(session, batch, session.stream(batch.getFirst()));
                units.put(unit, begun);
                count(begun, 1);
                if (hangs(begun.direction())) {
                    unitEnded(unit, Collections.nCopies(batch.size(), new UnitResult(BlockStatus.FAILED, why(begun.stream), 0)), begun.stream);
                } else {
                    if (begun.stream != TransferPort.DEVICE) { // whose bytes cannot be left behind: see Doubtful
                        unitEnds.set(unit, context.nowMs() + context.limits().times().unitMs());
                    }
                    context.ports().watch().begun(session.operation, unit, batch.size());
                    session.send(unit, batch);
                }
            }
        }
    }

    private boolean hangs(Direction direction) {
        return leftBehind.values().stream().filter(one -> one.overdue && one.direction.equals(direction)).count() >= MOST_OVERDUE;
    }

    /** Units that stand behind one that has ended: their time begins now, for the port may not have begun them before. */
    private void renewBehind(long unit, Direction direction) {
        units.forEach((behind, one) -> {
            if (behind > unit && one.direction().equals(direction)) {
                unitEnds.set(behind, context.nowMs() + context.limits().times().unitMs());
            }
        });
    }

    /** Why a block is not moved by a port that does not answer. */
    private static OperationReason why(TransferPort port) {
        return switch (port) {
            case DEVICE -> OperationReason.DEVICE_FAULT;
            case STORE -> OperationReason.STORE_UNAVAILABLE;
            case DISK, PEER -> OperationReason.IO;
        };
    }

    // --- units that no port ends

    @Override
    public long nextDeadlineMs() {
        return unitEnds.nextMs();
    }

    /** Units that their port has not ended in time end with an unknown outcome; what the port reports of them later frees their pages. */
    @Override
    public void expire() {
        for (Optional<Long> due = unitEnds.pollDue(context.nowMs()); due.isPresent(); due = unitEnds.pollDue(context.nowMs())) {
            long unit = due.get();
            Unit late = units.get(unit);
            LeftBehind before = leftBehind.get(unit);
            Direction direction = late != null ? late.direction() : Objects.requireNonNull(before, "a deadline of no unit").direction;
            context.counters().increment(AgentCounter.UNITS_OVERDUE);
            leftBehind.put(unit, new LeftBehind(direction, true));
            leave(unit);
        }
    }

    /** Waits no longer for units of the store, the disk and other nodes: their epoch has ended, and one of them may hang. Their time goes on. */
    public void leaveUnits() {
        List<Long> left = units.entrySet().stream().filter(one -> one.getValue().stream != TransferPort.DEVICE).map(Map.Entry::getKey).toList();
        for (long unit : left) {
            leftBehind.put(unit, new LeftBehind(Objects.requireNonNull(units.get(unit)).direction(), false));
            leave(unit);
        }
    }

    private void leave(long unit) {
        Unit left = units.get(unit);
        if (left != null) {
            // A probe moves nothing, so its outcome is known.
            UnitResult result = left.session instanceof StoreCheck ? new UnitResult(BlockStatus.FAILED, why(left.stream), 0) : NO_RESULT;
            unitEnded(unit, Collections.nCopies(left.items.size(), result), left.stream);
        }
    }

    /** Its port has reported a unit that was left behind; false when there is none. */
    private boolean reported(long unit, TransferPort from) {
        LeftBehind left = leftBehind.get(unit);
        if (left == null || left.direction.port != from) {
            return false;
        }
        leftBehind.remove(unit);
        unitEnds.clear(unit);
        renewBehind(unit, left.direction);
        return true;
    }

    private void count(Unit unit, int by) {
        if (unit.stream == TransferPort.PEER) {
            peerUnitsUnderWay += by;
        } else {
            underWay.merge(unit.session.kind(), by, Integer::sum);
        }
    }

    /** The session of that kind that may begin a unit now; null when none may. */
    private @Nullable TransferSession nextWithSlot(OperationKind kind) {
        boolean slot = underWay(kind) < limit(kind);
        if (kind != OperationKind.PREFETCH) {
            return slot ? next(kind) : null;
        }
        boolean peers = peerUnitsUnderWay < context.limits().peers().units();
        for (Iterator<TransferSession> each = lane(kind).iterator(); each.hasNext();) {
            TransferSession session = each.next();
            if (!session.hasPending()) {
                each.remove();
            } else if (session.stream(session.nextPending()) == TransferPort.PEER ? peers : slot) {
                return session;
            }
        }
        return null;
    }

    private int limit(OperationKind kind) {
        AgentLimits.Units limits = context.limits().units();
        return switch (kind) {
            case LOAD_BACK -> limits.loads();
            case PREFETCH -> limits.fetches();
            // Engines wait for loads and for no save: while loads queue, saves get by with one unit.
            case WRITE_BACK -> next(OperationKind.LOAD_BACK) == null ? limits.saves() : 1;
            case BACK_UP -> limits.backUps();
            case COPY -> context.limits().disk().copies();
            case DROP -> context.limits().disk().drops();
            // No request waits for a promotion: while requests wait for fetches, promotions get one unit.
            case PROMOTE -> next(OperationKind.PREFETCH) == null ? limits.fetches() : 1;
            case UNKNOWN -> 0;
        };
    }

    /** The session of that kind whose turn it is; null when none has anything to move. */
    private @Nullable TransferSession next(OperationKind kind) {
        TransferSession first = firstReady(lane(kind));
        return first == null && kind == OperationKind.LOAD_BACK ? firstReady(outside) : first;
    }

    /** Those that wait for a page of the agent's own let those go first that need none; among themselves they keep their order. */
    private @Nullable TransferSession firstReady(Deque<TransferSession> lane) {
        for (Iterator<TransferSession> each = lane.iterator(); each.hasNext();) {
            TransferSession session = each.next();
            if (!session.hasPending()) {
                each.remove();
            } else if (session.ready() && !(session instanceof TierCopy copy && copy.savesNext() && copySaves())) {
                return session;
            }
        }
        return null;
    }

    /** Copies have one unit at a time in the stream of saves: it is the write-backs' first. */
    private boolean copySaves() {
        return units.values().stream().anyMatch(unit -> unit.stream == TransferPort.DEVICE && unit.session instanceof TierCopy);
    }

    private Deque<TransferSession> lane(TransferSession session) {
        return session instanceof DeviceLoad move && move.owner().request().isEmpty() ? outside : lane(session.kind());
    }

    private Deque<TransferSession> lane(OperationKind kind) {
        Deque<TransferSession> lane = lanes.get(kind);
        if (lane == null) {
            throw new IllegalStateException("No units of work for " + kind);
        }
        return lane;
    }

    /** A unit is idle. A unit that is not under way changes nothing, except that pages in quarantine may come back. */
    public void unitEnded(long unit, List<UnitResult> reported, TransferPort from) {
        Unit ended = units.get(unit);
        if (ended == null || from != ended.stream) {
            late(unit, reported, from);
            return;
        }
        units.remove(unit);
        if (ended.stream != TransferPort.DEVICE && !leftBehind.containsKey(unit)) {
            unitEnds.clear(unit);
            renewBehind(unit, ended.direction());
        }
        count(ended, -1);
        if (ended.session instanceof TierCopy copy && reported.size() != ended.items.size()) {
            copy.mismatch();
        }
        // A copy with more or fewer results than blocks: no result can be matched to a block.
        List<UnitResult> results = ended.session instanceof TierCopy && reported.size() != ended.items.size() ? List.of() : reported;
        boolean known = IntStream.range(0, ended.items.size()).noneMatch(i -> result(results, i).status() == BlockStatus.UNKNOWN);
        if (known) {
            if (from == TransferPort.DEVICE && ended.session.kind() != OperationKind.LOAD_BACK) {
                quarantine.liftSavesBefore(unit);
            }
            endDoubtful(unit, ended.session.kind());
            endUnit(unit, ended, results);
        } else if (ended.session.kind() == OperationKind.LOAD_BACK) {
            // The engine writes to these pages once it has its answer, so there is no answer before they are idle.
            doubtful.put(unit, new Doubtful(ended, results));
        } else {
            endUnit(unit, ended, results);
        }
    }

    private void endUnit(long unit, Unit ended, List<UnitResult> results) {
        TransferSession session = ended.session;
        for (int i = 0; i < ended.items.size(); i++) {
            UnitResult result = result(results, i);
            if (result.status() != BlockStatus.UNKNOWN) {
                session.landed(ended.items.get(i), result);
            } else if (session.kind() == OperationKind.LOAD_BACK) {
                session.landed(ended.items.get(i), new UnitResult(BlockStatus.FAILED, OperationReason.DEVICE_FAULT, 0));
            } else {
                session.unknown(ended.items.get(i), quarantine.open(unit, session, ended.stream, whyUnknown(unit, ended, results)));
            }
        }
        session.unitIdle();
        if (session.hasPending() && !lane(session).contains(session)) {
            lane(session).addFirst(session); // some of it is tried again
        }
        settle(session);
    }

    private OperationReason whyUnknown(long unit, Unit ended, List<UnitResult> results) {
        if (ended.session instanceof TierCopy && results.isEmpty()) {
            return OperationReason.COPY_RESULT_MISMATCH;
        }
        boolean hung = ended.stream == TransferPort.DEVICE || leftBehind.containsKey(unit);
        return hung ? why(ended.stream) : OperationReason.IO;
    }

    private static UnitResult result(List<UnitResult> results, int i) {
        return i < results.size() ? results.get(i) : NO_RESULT;
    }

    /** A later unit of the stream is idle, so those before it are: what is still unknown of them has failed. */
    private void endDoubtful(long unit, OperationKind kind) {
        while (kind == OperationKind.LOAD_BACK && !doubtful.isEmpty() && doubtful.firstKey() < unit) {
            Map.Entry<Long, Doubtful> first = doubtful.pollFirstEntry();
            endUnit(first.getKey(), first.getValue().unit(), first.getValue().results());
        }
    }

    private void late(long unit, List<UnitResult> results, TransferPort from) {
        context.counters().increment(AgentCounter.LATE_COMPLETIONS);
        reported(unit, from);
        boolean known = !results.isEmpty() && results.stream().noneMatch(result -> result.status() == BlockStatus.UNKNOWN);
        if (known && quarantine.stream(unit) == from) {
            quarantine.lift(unit);
        }
        Doubtful load = known && from == TransferPort.DEVICE ? doubtful.remove(unit) : null;
        if (load != null) {
            endUnit(unit, load.unit(), results);
        }
    }
}
