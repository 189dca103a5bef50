/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.MigrationStates;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.PromotionsRow;
import io.tierlog.schemas.state.TierRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/** After the faults: everything is repaired, waiting requests go on, live ones end, and then nothing may be left. For one thread. */
final class Rest {
    private static final Set<OperationState> UNFINISHED = EnumSet.of(OperationState.ISSUED, OperationState.OVERDUE);
    private static final Set<RequestState> OVER = EnumSet.of(RequestState.FINISHED, RequestState.CANCELLED, RequestState.REJECTED);
    private static final Set<String> SERVED = Set.of("PREFILLING", "DECODING", "FINISHED");
    private static final int ROUNDS = 12;
    private static final long ROUND_MS = 2_000;

    /** Longer than any request waits for a fetch. */
    private static final long SERVED_MS = 400;
    /** Of no other prompt. */
    private static final int LAST_TOKEN = 1_000_000;
    private static final String LAST = "last";

    private static final long SECOND_MS = 1_000;
    /** Seconds after which no write-back waits for host pages any more. */
    private static final int WRITE_BACKS_OVER = 90;

    private final Stage stage;
    private final World world;
    private final Checks checks;
    private final Operators operators;
    private final MigrationOracle migrations;
    private int served;
    /** Whether the last policy has groups, whose quotas may let nothing stay. */
    private boolean grouped;

    Rest(Stage stage, Checks checks, Operators operators, MigrationOracle migrations) {
        this.stage = stage;
        this.world = stage.world;
        this.checks = checks;
        this.operators = operators;
        this.migrations = migrations;
    }

    /** All faults end. */
    void heal() {
        checks.note("HEAL");
        stage.endAllTroubles();
        world.endZombie();
        world.clockStands(false);
        world.wallSkewMs(stage.skewMs);
        world.store().reachable(true);
        world.store().full(false);
        world.store().honest();
        for (SimNode node : world.nodes()) {
            node.pause(false);
            node.disk().full(false);
            node.disk().honest();
        }
        stage.ghosts.forEach(world::appendOnce);
        stage.ghosts.clear();
        // With bounds as small as those that are drawn, the sweep of a node that was lost takes longer than the rest.
        world.commit();
        world.controllerLimits(Limits.of(world.log().partitions()));
        world.startController();
        settle();
        MigrationPolicy groups = stage.choices.next(2) == 0 ? null : new DrawnMigration(stage.choices, world.oracle().blockBytes()).calm();
        grouped = groups != null;
        world.requestPolicy(EpisodeSettings.calm(groups), Faults.policyVersion(world));
        operators.undrainAll();
        settle();
    }

    private void settle() {
        world.settle();
        world.commit();
        world.settle();
    }

    /** Time passes, and whatever has died is started again. */
    private void pass() {
        for (SimNode node : world.nodes()) {
            if (node.process() == null) {
                node.start();
            }
            while (node.settleDoubtful()) {
                // the next one
            }
        }
        world.advance(ROUND_MS);
    }

    /** I6: what waits goes on by itself; then live requests end, new ones are served, and everything comes to rest. */
    void come(Collection<Engine.Request> again) {
        for (int i = 0; i < ROUNDS; i++) {
            pass();
        }
        for (SimNode node : world.nodes()) {
            requireConnected(node);
            for (String request : node.engine().live()) {
                requireGoesOn(node, request);
            }
        }
        for (SimNode node : world.nodes()) {
            List<String> live = node.engine().live();
            live.forEach(request -> node.engine().finish(request, "COMPLETED"));
            while (node.engine().outside().giveUp()) {
                // the next one
            }
        }
        settle();
        again.forEach(this::serve);
        for (int i = 0; i < ROUNDS; i++) {
            pass();
        }
        settle();
        requireSaves();
    }

    /** A new prompt on each node is used last, so it is the last to leave, and the policy saves it: host and store have it when all is at rest. */
    private void requireSaves() {
        int[] tokens = new int[2 * EpisodeSettings.BLOCK_TOKENS + 1];
        List<Prompt> prompts = new ArrayList<>();
        for (SimNode node : world.nodes()) {
            Arrays.fill(tokens, LAST_TOKEN + prompts.size());
            node.engine().submit(new Engine.Request(LAST, "m", "", tokens.clone(), 1, true));
            prompts.add(Prompt.of("m", EpisodeSettings.BLOCK_TOKENS, tokens));
        }
        world.advance(SERVED_MS);
        world.nodes().forEach(node -> node.engine().finish(LAST, "COMPLETED"));
        for (int i = 0; i < ROUNDS; i++) {
            pass();
        }
        settle();
        for (int i = 0; i < prompts.size() && !grouped; i++) {
            requireSaved(world.nodes().get(i), prompts.get(i));
        }
    }

    private void requireSaved(SimNode node, Prompt prompt) {
        AgentProcess process = node.process();
        List<Bytes> keys = prompt.keys();
        if ((process == null || !process.serves(prompt.namespace(), keys)) && !isFullOfWhatStays(node, prompt)) {
            throw new SimulationFailure("effect, save: the host of " + node.name() + " has not the blocks of the last request: " + keys);
        }
        boolean stored = keys.stream().allMatch(key -> world.store().holds(prompt.namespace(), key));
        if (!stored && world.store().size() < world.settings().storeBlocks()) {
            throw new SimulationFailure("effect, save: the store has not the blocks of the last request of " + node.name() + ": " + keys);
        }
    }

    /**
     * Whether so many blocks on the host are behind those of the last request in the eviction order, or are extended by such, that the last used
     * ones leave before them: the store does not have them, since it has lost objects or backups have failed, or they have earned credit.
     */
    private boolean isFullOfWhatStays(SimNode node, Prompt last) {
        String aggregate = node.aggregate();
        HeapTables tables = world.state();
        Map<RowKey.Placement, PlacementRow> rows = tables.rows(Rows.PLACEMENTS);
        Bytes namespace = Namespaces.digest(last.namespace());
        long lastUse = Stream.of(Tier.HOST, Tier.DISK)
                .flatMap(tier -> last.keys().stream().map(key -> rows.get(new RowKey.Placement(aggregate, namespace, tier, key))))
                .filter(Objects::nonNull).mapToLong(PlacementRow::touch).max().orElse(Long.MAX_VALUE);
        Set<RowKey.Placement> stay = new HashSet<>();
        rows.forEach((at, row) -> {
            boolean onHost = at.aggregate().equals(aggregate) && at.tier() == Tier.HOST && row.state() == PlacementState.SERVING;
            boolean isLast = at.namespace().equals(namespace) && last.keys().contains(at.block());
            if (onHost && !isLast && (!row.stored() || PlacementRows.place(row) >= lastUse)) {
                RowKey.Placement one = at;
                for (PlacementRow up = row; up != null && stay.add(one); up = rows.get(one)) {
                    one = new RowKey.Placement(aggregate, at.namespace(), Tier.HOST, up.parent());
                }
            }
        });
        NodeRow row = Objects.requireNonNull(tables.get(Rows.NODES, new RowKey.Aggregate(aggregate)));
        ClockRow clock = Objects.requireNonNull(tables.get(Rows.CLOCK, new RowKey.Aggregate(Aggregates.clock(world.log().partitionOf(aggregate)))));
        TierRow host = row.tiers().stream().filter(tier -> tier.tier() == Tier.HOST).findFirst().orElseThrow();
        // Blocks leave until fewer than this are left.
        return stay.size() + last.keys().size() >= clock.policy().hostLowMark() * host.capacityBlocks();
    }

    /** A request that was there before runs on every node, from whatever tier its blocks are in. */
    private void serve(Engine.Request asked) {
        String id = "again-" + served++;
        Engine.Request request = new Engine.Request(id, asked.namespace(), asked.adapter(), asked.tokens(), 1, true);
        for (SimNode node : world.nodes()) {
            node.engine().submit(request);
        }
        world.advance(SERVED_MS);
        // A block that waits for pages of a full host keeps its whole prefix from being evicted, until its write-back is abandoned.
        for (int i = 0; i < WRITE_BACKS_OVER && world.nodes().stream().anyMatch(node -> waitsForSpace(node, id)); i++) {
            world.advance(SECOND_MS);
        }
        Prompt prompt = Prompt.of(asked.namespace(), EpisodeSettings.BLOCK_TOKENS, asked.tokens());
        for (SimNode node : world.nodes()) {
            requireServed(node, id);
            node.engine().finish(id, "COMPLETED");
            node.engine().outside().read(id, prompt, 0);
        }
        settle();
    }

    /** Whether the request waits for pages while an operation is open and moves nothing: a write-back waits for pages, a peer read for its lease. */
    private static boolean waitsForSpace(SimNode node, String request) {
        Engine.View view = node.engine().view(request);
        AgentProcess process = node.process();
        return view != null && view.state().equals("QUEUED") && process != null && process.status().activeOperations() > 0
                && process.machine().units().stream().allMatch(unit -> unit.kind() == Unit.Kind.PEER_READ && !unit.peer().isSending());
    }

    private static void requireConnected(SimNode node) {
        AgentProcess process = node.process();
        if (process == null || !process.status().onTheLog() || !node.engine().connected()) {
            throw new SimulationFailure("liveness, agent: " + node.name() + " does not come back: "
                    + (process == null ? "no process" : process.status().phase()) + ", engine connected " + node.engine().connected());
        }
    }

    private static void requireGoesOn(SimNode node, String request) {
        Engine.View view = node.engine().view(request);
        if (view != null && (view.state().equals("ASKING") || view.state().equals("LOADING"))) {
            throw new SimulationFailure("I6, request: " + request + " of " + node.name() + " waits for ever: " + view);
        }
    }

    /** No other request is live: it has its pages, unless its adapter is unknown. */
    private static void requireServed(SimNode node, String request) {
        Engine.View view = node.engine().view(request);
        boolean refused = view != null && view.state().equals("REJECTED") && view.reason().equals("UNKNOWN_ADAPTER");
        if (view == null || (!refused && !SERVED.contains(view.state()))) {
            throw new SimulationFailure("I6, service: " + request + " of " + node.name() + " is not served though no other request is live: " + view);
        }
    }

    /** Nothing is left that should not be. */
    void check() {
        world.nodes().forEach(this::check);
        HeapTables state = world.state();
        state.rows(Rows.OPERATIONS).forEach((key, row) -> {
            if (UNFINISHED.contains(row.state())) {
                throw new SimulationFailure("I12, operation: " + key + " never ended: " + row);
            }
        });
        state.rows(Rows.REQUESTS).forEach((key, row) -> {
            if (!OVER.contains(row.state())) {
                throw new SimulationFailure("I5, request: " + key + " never ended: " + row);
            }
        });
        state.rows(Rows.NODES).forEach((key, row) -> {
            PromotionsRow promotions = row.promotions();
            if (promotions != null && (promotions.operations() != 0 || promotions.queuedBlocks() != 0)) {
                throw new SimulationFailure("I6, promotion: at rest " + key + " still promotes: " + promotions);
            }
        });
        if (!state.rows(Rows.LEASES).isEmpty()) {
            throw new SimulationFailure("I1, lease: never ended: " + state.rows(Rows.LEASES));
        }
        state.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            NodeRow node = state.rows(Rows.NODES).entrySet().stream()
                    .filter(one -> one.getKey().aggregate().equals(key.aggregate())).map(one -> one.getValue()).findFirst().orElse(null);
            boolean current = node == null || row.incarnation() == node.incarnation();
            if (current && (row.operation() != null || row.holds() != 0)) {
                throw new SimulationFailure("I1, placement: held for nothing: " + key + " " + row);
            }
        });
        if (state.rows(Rows.MIGRATIONS).values().stream().anyMatch(Rest::lacksAnswer)) {
            passAnswerTime();
        }
        migrations.atRest();
        world.checkFold();
        checks.atRest(world);
    }

    /**
     * Whether a node has not answered. One that still has its part of an earlier migration under the same id does not take another: log time of
     * the migration's partition was hours ahead and the id was free there, and on the node it was not.
     */
    private static boolean lacksAnswer(MigrationRow row) {
        return !MigrationStates.isEnd(row.state()) && row.parts().stream().anyMatch(part -> part.answer() == null);
    }

    /** An answer that has not come in this time counts as a refusal. */
    private void passAnswerTime() {
        stage.skewMs += MigrationLimits.DEFAULTS.answerMs();
        world.wallSkewMs(stage.skewMs);
        pass();
        settle();
    }

    private void check(SimNode node) {
        if (!node.engine().live().isEmpty() || node.engine().heldPages() != 0) {
            throw new SimulationFailure("I1, device: " + node.name() + " still runs " + node.engine().live() + " and has "
                    + node.engine().heldPages() + " device pages that the agent never let go of");
        }
        AgentProcess process = node.process();
        if (process == null) {
            throw new SimulationFailure("I1, agent: " + node.name() + " has no process");
        }
        AgentStatus status = process.status();
        if (status.liveRequests() != 0 || status.activeOperations() != 0 || status.devicePins() != 0
                || !process.machine().units().isEmpty()) {
            throw new SimulationFailure("I1, agent: " + node.name() + " is not at rest: " + status);
        }
        for (TierUsage use : status.usage()) {
            if (use.freeBlocks() + use.servingBlocks() != use.capacityBlocks()) {
                throw new SimulationFailure("I4, pages: " + node.name() + " has pages that are neither free nor serving: " + use);
            }
        }
    }
}
