/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.log;

import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.whatif.world.RoutedWorkload;
import java.util.List;

/** The requests of a log, in the order in which agents received them. Immutable. */
record RecordedWorkload(String name, int blockTokens, List<String> tenants, List<Request> requests, List<Integer> routes, int nodes)
        implements RoutedWorkload {
    RecordedWorkload {
        tenants = List.copyOf(tenants);
        requests = List.copyOf(requests);
        routes = List.copyOf(routes);
    }

    @Override
    public RoutedWorkload first(int count) {
        int most = Math.min(count, requests.size());
        return new RecordedWorkload(name, blockTokens, tenants, requests.subList(0, most), routes.subList(0, most), nodes);
    }

    @Override
    public int size() {
        return requests.size();
    }

    @Override
    public Request request(int index) {
        return requests.get(index);
    }

    @Override
    public int node(int index) {
        return routes.get(index);
    }
}
