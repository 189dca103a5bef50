/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import java.util.List;

/** A finite, repeatable sequence of requests in order of arrival. Immutable; any thread may read it. */
public interface Workload {
    /** What people call it. */
    String name();

    /** Tokens in a block. */
    int blockTokens();

    /** Those whose blocks must not be shared with each other, in order of their index; at least one. */
    List<String> tenants();

    /** Number of requests. */
    int size();

    /** Request {@code index}, 0 to {@link #size()} - 1. */
    Request request(int index);

    /** The first {@code requests} of these, or all where there are fewer; 1 or more. */
    default Workload first(int requests) {
        return new FirstRequests(this, Math.min(requests, size()));
    }
}
