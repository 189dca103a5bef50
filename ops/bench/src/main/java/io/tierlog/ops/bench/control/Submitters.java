/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.schemas.event.RequestSubmitted;
import java.util.List;

/** The nodes that submit to one topic, in turn. Safe for use by several threads. */
final class Submitters {
    private final Workload workload;
    private final List<Sender> senders;

    Submitters(Workload workload, List<Sender> senders) {
        this.workload = workload;
        this.senders = List.copyOf(senders);
    }

    /** For the parts without a controller: no node registers. */
    static Submitters to(Environment environment, String topic) {
        List<Sender> senders = environment.nodes().stream()
                .map(node -> new Sender(Sender.to(environment.outbox(), topic), node, "bench"))
                .toList();
        senders.forEach(sender -> sender.incarnation(1));
        return new Submitters(environment.workload(), senders);
    }

    /** Sends the request with this number, which waits for blocks that are all in the store; returns the bytes of the record. */
    int submit(long number) {
        RequestSubmitted request = workload.submitted(number, workload.blocks());
        return of(number).send(request);
    }

    /** Sends all three records of the request with this number, whatever the answers. */
    void complete(long number, int inStore) {
        Sender sender = of(number);
        String request = Workload.request(number);
        sender.send(workload.submitted(number, inStore));
        sender.send(Workload.prefilled(request, 0, workload.blocks() + 1));
        sender.send(Workload.finished(request));
    }

    private Sender of(long number) {
        return senders.get(Math.floorMod(number, senders.size()));
    }
}
