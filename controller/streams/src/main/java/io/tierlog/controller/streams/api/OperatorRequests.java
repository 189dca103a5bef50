/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.Problem;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.decision.PolicyVersioned;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.SharesRow;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The changes that operators can request, over HTTP or gRPC: appends the request to the log and waits until its decision is durable.
 * Safe for use by several threads; a call takes its thread for as long as it waits.
 */
final class OperatorRequests {
    private final CommittedState view;
    private final OperatorLog log;
    private final ApiLimits limits;
    private final Semaphore waiting;

    /** Progress of a request at its deadline. */
    enum Progress {
        /** Decided, and new. */
        CREATED,
        /** Decided, and a repeat. */
        KNOWN,
        /** On the log, and its decision is not received yet. */
        PENDING
    }

    /** Whether a request about a node was decided within the deadline. */
    enum Decided {
        YES,
        PENDING
    }

    /** Number of cleared marks; unless decided, some of the requested marks may be left. */
    record Cleared(Decided decided, long blocks) {}

    OperatorRequests(CommittedState view, OperatorLog log, ApiLimits limits) {
        this.view = view;
        this.log = log;
        this.limits = limits;
        waiting = new Semaphore(limits.waiting());
    }

    /**
     * Migrates blocks; requested twice with the same id, it is one migration.
     *
     * @throws Problem ID_TAKEN when the id belongs to another request, REFUSED when the controller declines it
     */
    Progress migrate(Caller caller, MigrateCall call) {
        return bounded(() -> {
            String aggregate = StateSnapshot.MIGRATION + call.id();
            long deadlineNs = deadline(call.patience());
            List<String> nodes = view.read(state -> asked(state, call));
            MigrationRow known = view.read(state -> state.migration(call.id()));
            if (known != null) {
                requireSame(call, known);
                return view.await(deadlineNs, state -> answered(state.migration(call.id())) ? Progress.KNOWN : null).orElse(Progress.PENDING);
            }
            try (DecisionWaiter watch = view.watch(aggregate)) {
                watch.input(log.append(caller, aggregate, envelope -> new MigrationRequested(envelope, nodes, call.order())));
                return view.await(deadlineNs, state -> migrated(state, call, watch)).orElse(Progress.PENDING);
            }
        });
    }

    private List<String> asked(StateSnapshot state, MigrateCall call) {
        List<String> nodes = call.nodes().isEmpty() ? state.nodes() : List.copyOf(new TreeSet<>(call.nodes()));
        if (nodes.isEmpty()) {
            throw new Problem(Problem.Kind.REFUSED, "no node is registered yet", "start an agent, or name nodes");
        }
        if (nodes.size() > limits.nodes()) {
            throw new Problem(Problem.Kind.REFUSED, nodes.size() + " nodes are registered, and one migration may name " + limits.nodes(),
                    "split them into several migrations");
        }
        return nodes;
    }

    private static @Nullable Progress migrated(StateSnapshot state, MigrateCall call, DecisionWaiter watch) {
        boolean repeated = false;
        for (Fact fact : watch.consequences()) {
            if (fact instanceof MigrationDeclined declined) {
                throw new Problem(Problem.Kind.REFUSED, String.join("; ", declined.findings()), "correct the findings, and retry with another id",
                        declined.findings().stream().map(finding -> new Problem.Finding("", finding)).toList());
            }
            if (fact instanceof InputRefused refused) {
                requireTaken(refused);
                repeated = true;
            }
        }
        MigrationRow row = state.migration(call.id());
        if (row == null) {
            return null;
        }
        requireSame(call, row);
        if (!answered(row)) {
            return null;
        }
        return repeated ? Progress.KNOWN : Progress.CREATED;
    }

    private static void requireSame(MigrateCall call, MigrationRow row) {
        if (!call.isSameAs(row)) {
            throw new Problem(Problem.Kind.ID_TAKEN, "migration " + call.id() + " exists with another request",
                    "use another id; GET /v1/migrations/" + call.id() + " shows it");
        }
    }

    /** Whether every node has answered. */
    static boolean answered(@Nullable MigrationRow row) {
        return row != null
                && switch (row.state()) {
                    case DONE, CANCELLED, REJECTED -> true;
                    case UNKNOWN, SUBMITTED, RUNNING, CANCELLING -> row.parts().stream().allMatch(part -> part.answer() != null);
                };
    }

    /** Whether it has ended. */
    static boolean ended(MigrationRow row) {
        return switch (row.state()) {
            case DONE, CANCELLED, REJECTED -> true;
            case UNKNOWN, SUBMITTED, RUNNING, CANCELLING -> false;
        };
    }

    /**
     * Cancels a migration.
     *
     * @return its state then; SUBMITTED or RUNNING when the decision did not come in time
     * @throws Problem MIGRATION_UNKNOWN, or TOO_LATE when it had ended
     */
    MigrationState cancel(Caller caller, String id, Duration patience) {
        return bounded(() -> {
            String aggregate = StateSnapshot.MIGRATION + id;
            MigrationRow row = view.read(state -> state.knownMigration(id));
            requireRunning(id, row);
            if (row.state() == MigrationState.CANCELLING) {
                return row.state();
            }
            try (DecisionWaiter watch = view.watch(aggregate)) {
                watch.input(log.append(caller, aggregate, MigrationCancelRequested::new));
                return view.await(deadline(patience), state -> cancelled(state, id, watch)).orElse(row.state());
            }
        });
    }

    private static @Nullable MigrationState cancelled(StateSnapshot state, String id, DecisionWaiter watch) {
        MigrationRow row = state.knownMigration(id);
        for (Fact fact : watch.consequences()) {
            if (fact instanceof InputRefused refused && refused.reason() == RefusalReason.TOO_LATE) {
                throw tooLate(id, row);
            }
            if (fact instanceof InputRefused refused) {
                requireTaken(refused);
            }
        }
        return switch (row.state()) {
            case CANCELLING, CANCELLED, REJECTED, DONE -> row.state();
            case UNKNOWN, SUBMITTED, RUNNING -> null;
        };
    }

    private static void requireRunning(String id, MigrationRow row) {
        if (ended(row)) {
            throw tooLate(id, row);
        }
    }

    private static Problem tooLate(String id, MigrationRow row) {
        return new Problem(Problem.Kind.TOO_LATE, "migration " + id + " is " + row.state(), "nothing is left to cancel");
    }

    /** Drains a node or one of its engine instances, or ends that. The request's name makes repeats harmless. */
    Decided drain(Caller caller, Wish wish, boolean drain, @Nullable String instance) {
        return bounded(() -> {
            String aggregate = StateSnapshot.NODE + wish.node();
            if (view.read(state -> isLast(state.knownNode(wish.node()), wish))) {
                return Decided.YES;
            }
            try (DecisionWaiter watch = view.watch(aggregate)) {
                watch.input(log.append(caller, aggregate, envelope -> new NodeDrainRequested(envelope, wish.request(), drain, instance)));
                return view.await(deadline(wish.patience()), state -> drained(state, wish, watch)).orElse(Decided.PENDING);
            }
        });
    }

    private static @Nullable Decided drained(StateSnapshot state, Wish wish, DecisionWaiter watch) {
        requireTaken(watch);
        return isLast(state.knownNode(wish.node()), wish) || watch.settled() ? Decided.YES : null;
    }

    /** Whether the last request about draining the node is this one. */
    private static boolean isLast(NodeRow node, Wish wish) {
        SharesRow shares = node.shares();
        return shares != null && shares.drainRequest().equals(wish.request());
    }

    /**
     * Has marks of a node cleared: those of some blocks, or all of them. One request clears so many of all and no more, so it is made again until
     * one finds fewer, or the deadline has passed: then it is PENDING, and marks may be left.
     */
    Cleared clearMarks(Caller caller, Wish wish, List<BlockName> blocks) {
        return bounded(() -> {
            view.read(state -> state.knownNode(wish.node()));
            long deadlineNs = deadline(wish.patience());
            long gone = 0;
            while (true) {
                Cleared one = clearOnce(caller, wish, blocks, deadlineNs);
                gone += one.blocks();
                boolean more = one.decided() == Decided.YES && blocks.isEmpty() && one.blocks() >= MigrationLimits.DEFAULTS.marksPerClearing();
                if (!more || deadlineNs - System.nanoTime() <= 0) {
                    return new Cleared(more ? Decided.PENDING : one.decided(), gone);
                }
            }
        });
    }

    private Cleared clearOnce(Caller caller, Wish wish, List<BlockName> blocks, long deadlineNs) {
        String aggregate = StateSnapshot.NODE + wish.node();
        try (DecisionWaiter watch = view.watch(aggregate)) {
            watch.input(log.append(caller, aggregate, envelope -> new MarksClearRequested(envelope, wish.request(), blocks)));
            Optional<Decided> decided = view.await(deadlineNs, _ -> {
                requireTaken(watch);
                return watch.settled() ? Decided.YES : null;
            });
            return view.read(_ -> new Cleared(decided.orElse(Decided.PENDING), cleared(watch)));
        }
    }

    private static long cleared(DecisionWaiter watch) {
        return watch.consequences().stream().mapToLong(fact -> fact instanceof MarkCleared mark ? mark.keys().size() : 0).sum();
    }

    /**
     * Changes the policy.
     *
     * @return its version; empty when the decision did not come in time
     * @throws Problem REFUSED when another change came first, or the controller finds the policy invalid
     */
    OptionalLong changePolicy(Caller caller, Policy policy, long basedOn, Duration patience) {
        return bounded(() -> {
            try (DecisionWaiter watch = view.watch(StateSnapshot.POLICY)) {
                watch.input(log.append(caller, StateSnapshot.POLICY, envelope -> new PolicyChangeRequested(envelope, basedOn, policy)));
                Optional<Long> version = view.await(deadline(patience), state -> versioned(state, watch));
                return version.isPresent() ? OptionalLong.of(version.get()) : OptionalLong.empty();
            }
        });
    }

    private static @Nullable Long versioned(StateSnapshot state, DecisionWaiter watch) {
        for (Fact fact : watch.consequences()) {
            if (fact instanceof PolicyRefused refused) {
                throw refused(refused.reason(), refused.findings());
            }
            if (fact instanceof PolicyVersioned versioned && state.policyVersion() >= versioned.version()) {
                return versioned.version();
            }
        }
        requireTaken(watch);
        return null;
    }

    /** The answer to a policy that is not taken. */
    static Problem refused(RefusalReason reason, List<String> findings) {
        return new Problem(Problem.Kind.REFUSED, reason + ": " + String.join("; ", findings),
                reason == RefusalReason.STALE_POLICY ? "another change came first: look at the difference again, and apply again"
                        : "correct the findings, and apply again",
                findings.stream().map(finding -> new Problem.Finding("", finding)).toList());
    }

    private static void requireTaken(DecisionWaiter watch) {
        for (Fact fact : watch.consequences()) {
            if (fact instanceof InputRefused refused) {
                requireTaken(refused);
            }
        }
    }

    /** Throws every refusal except that of a repeat. */
    private static void requireTaken(InputRefused refused) {
        if (refused.reason() != RefusalReason.REPEATED) {
            throw new Problem(Problem.Kind.REFUSED, refused.reason() + ": " + refused.detail(), "mend what it names, and ask again");
        }
    }

    /** How long a client waits: its deadline within the limits, or the default. */
    Duration patience(OptionalLong deadlineMs) {
        return Duration.ofMillis(Math.min(deadlineMs.orElse(limits.deadlineMs()), limits.longestDeadlineMs()));
    }

    private static long deadline(Duration patience) {
        return System.nanoTime() + patience.toNanos();
    }

    private <T> T bounded(Supplier<T> call) {
        if (!waiting.tryAcquire()) {
            throw new Problem(Problem.Kind.OVERLOADED, limits.waiting() + " requests wait for decisions already", "ask again with the same id");
        }
        try {
            return call.get();
        } finally {
            waiting.release();
        }
    }

    /**
     * Something that an operator wants of a node.
     *
     * @param node its name
     * @param request the client's own name for it
     * @param patience how long the client waits for the decision
     */
    record Wish(String node, String request, Duration patience) {
        /** Refuses names that no node can have, before they become a key of the log. */
        Wish {
            if (!node.matches(MigrateCall.NODE)) {
                throw new Problem(Problem.Kind.NODE_UNKNOWN, "no node can be called that", "GET /v1/nodes lists those that are known");
            }
        }
    }
}
