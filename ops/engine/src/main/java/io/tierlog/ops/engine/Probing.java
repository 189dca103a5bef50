/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import java.util.concurrent.TimeUnit;

/**
 * Walks the workload ahead of the requests and announces each prompt. A request waits for its predecessor and for a free slot, so it may come later
 * than announced, never sooner. One thread.
 */
final class Probing {
    private final ReplayConfig config;
    private final ProbeAhead.Plan plan;

    Probing(ReplayConfig config, ProbeAhead.Plan plan) {
        this.config = config;
        this.plan = plan;
    }

    /** Runs to the last request. {@code startNanos} is the beginning of the replay. */
    void run(long startNanos) throws InterruptedException {
        Workload workload = config.workload();
        Router router = Router.of(config.router(), config.nodes().size());
        for (int i = 0; i < workload.size(); i++) {
            Request request = workload.request(i);
            long atMs = config.pacing().arrivalMs(request) - plan.aheadMs();
            TimeUnit.NANOSECONDS.sleep(startNanos + TimeUnit.MILLISECONDS.toNanos(atMs) - System.nanoTime());
            String node = config.nodes().get(router.route(request)).name();
            if (!request.wholeKeys().isEmpty()) {
                plan.receiver().comes(node, config.namespace(request.tenant()), request.wholeKeys());
            }
        }
    }
}
