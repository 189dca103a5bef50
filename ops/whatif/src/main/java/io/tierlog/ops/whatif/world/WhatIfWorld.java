/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.ops.engine.Router;
import io.tierlog.ops.engine.RouterKind;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.PolicyChangeRequested;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A cluster in virtual time with one workload: requests go out in order of arrival, each to the node its router names, when its predecessor has
 * ended, its time has come and fewer than so many are in flight. For one thread; each run has a world of its own.
 */
public final class WhatIfWorld {
    private static final long BEGIN_MICROS = 5_000_000;
    /** What is on its way after the last request comes to its end in this time. */
    private static final long SETTLE_MICROS = 20_000_000;
    /** A node may have this many times the accesses of another, and the slack, before a prompt goes elsewhere than to its blocks. */
    private static final double IMBALANCE = 1.25;

    private static final long SLACK = 1_000;

    private final WhatIfPlan plan;
    private final Workload workload;
    private final VirtualTime time = new VirtualTime();
    private final ResultCounts counts = new ResultCounts();
    private final ModelController controller;
    private final List<ModelEngine> engines = new ArrayList<>();
    private final List<String> namespaces;
    private final @Nullable ModelDirectory directory;
    private final Router router;
    private final long[] assigned;
    /** What continues when a request that runs has ended. */
    private final Map<Integer, List<Runnable>> running = new HashMap<>();
    private int next;
    private int ended;
    /** Whether the next request waits for one in flight to end. */
    private boolean slotWanted;

    private WhatIfWorld(WhatIfPlan plan, Workload workload) {
        this.plan = plan;
        this.workload = workload;
        this.controller = new ModelController(time, plan.model().log(), counts);
        this.namespaces = workload.tenants().stream().map(tenant -> "whatif/" + tenant).toList();
        int nodes = plan.sizes().nodes();
        this.assigned = new long[nodes];
        this.router = Router.of(plan.routing() == Routing.ROUND_ROBIN ? RouterKind.ROUND_ROBIN : RouterKind.AFFINITY, nodes);
        this.directory = plan.routing() == Routing.PREFIX ? new ModelDirectory() : null;
        if (directory != null) {
            controller.reader(directory::decided);
        }
        ModelAgent.Surroundings around = new ModelAgent.Surroundings(time, controller, plan, workload.blockTokens(), new HashSet<>());
        ModelEngine.Setting setting = new ModelEngine.Setting(around, counts, namespaces);
        IntStream.rangeClosed(1, nodes).forEach(node -> engines.add(new ModelEngine(setting, node(node - 1))));
    }

    private static String node(int index) {
        return "node-" + (index + 1);
    }

    /** Runs a variation to its end. */
    public static WhatIfResult run(WhatIfPlan plan, Workload workload) {
        return new WhatIfWorld(plan, workload).run();
    }

    private WhatIfResult run() {
        controller.append(new PolicyChangeRequested(
                new Envelope("policy", "operator/whatif", 0, 1, 0, ModelController.START_MS, null, null, null), 0, plan.policy()));
        // The policy reaches all partitions before the first agent, as in a cluster that is set up.
        time.at(BEGIN_MICROS / 2, () -> engines.forEach(engine -> {
            engine.agent().register();
            engine.attach();
        }));
        time.at(BEGIN_MICROS, this::begin);
        while (ended < workload.size()) {
            time.step();
        }
        long lastMicros = time.nowMicros();
        while (time.nowMicros() < lastMicros + SETTLE_MICROS) {
            time.step();
        }
        requireOnTheLog();
        return counts.result(
                engines.stream().map(engine -> engine.agent().moved()).reduce(new WhatIfResult.Moved(0, 0, 0, 0, 0, 0), WhatIfResult.Moved::plus),
                (lastMicros - BEGIN_MICROS) / VirtualTime.MICROS_IN_MS);
    }

    private void begin() {
        requireOnTheLog();
        dispatch();
    }

    /** An agent that the controller takes for lost has no cache, and registers once only: the rest of the run would say nothing. */
    private void requireOnTheLog() {
        for (ModelEngine engine : engines) {
            if (!engine.agent().isOnTheLog()) {
                throw new IllegalStateException("the agent of " + engine.session() + " is not on the log: its records take longer than its session");
            }
        }
    }

    /** Sends out what can go, and arranges to be called again for what cannot. */
    private void dispatch() {
        while (next < workload.size()) {
            Request request = workload.request(next);
            List<Runnable> before = running.get(request.predecessor());
            long atMicros = plan.pace().speed() == 0
                    ? 0
                    : BEGIN_MICROS + (long) (request.arrivalMs() * VirtualTime.MICROS_IN_MS / plan.pace().speed());
            if (before != null) {
                before.add(this::dispatch);
                return;
            }
            if (atMicros > time.nowMicros()) {
                time.at(atMicros, this::dispatch);
                return;
            }
            if (running.size() >= plan.pace().concurrency()) {
                slotWanted = true;
                return;
            }
            next++;
            start(request);
        }
    }

    private void start(Request request) {
        time.requested();
        ModelEngine engine = engines.get(route(request));
        if (request.shape().pages() > plan.sizes().devicePages()) {
            counts.rejected();
            ended++;
            return;
        }
        running.put(request.index(), new ArrayList<>());
        engine.admit(new ModelRequest(engine, request, () -> {
            ended++;
            List<Runnable> after = running.remove(request.index());
            if (after != null) {
                after.forEach(Runnable::run);
            }
            if (slotWanted) {
                slotWanted = false;
                dispatch();
            }
        }));
    }

    private int route(Request request) {
        if (plan.routing() == Routing.RECORDED && workload instanceof RoutedWorkload routed) {
            return routed.node(request.index());
        }
        if (directory == null) {
            return router.route(request);
        }
        int least = 0;
        for (int node = 1; node < assigned.length; node++) {
            least = assigned[node] < assigned[least] ? node : least;
        }
        List<Bytes> keys = request.wholeKeys().stream().map(ModelEngine::bytes).toList();
        int chosen = least;
        int longest = 0;
        for (int node = 0; node < assigned.length; node++) {
            int leading = directory.leading(node(node), namespaces.get(request.tenant()), keys);
            if (leading > longest && assigned[node] <= assigned[least] * IMBALANCE + SLACK) {
                longest = leading;
                chosen = node;
            }
        }
        assigned[chosen] += request.accesses();
        return chosen;
    }
}
