/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.state.RequestRow;
import org.jspecify.annotations.Nullable;

/** A request's row while a fact changes it. Confined to one call of evolve. */
public final class RequestEdit {
    final long incarnation;
    final int attempt;
    final String namespace;
    RequestState state;
    int seals;
    boolean tail;
    @Nullable String lease;
    long endedMs;
    final boolean keepsPages;
    final @Nullable String instance;

    public RequestEdit(long incarnation, int attempt, String namespace, boolean keepsPages, @Nullable String instance) {
        this.keepsPages = keepsPages;
        this.instance = instance;
        this.incarnation = incarnation;
        this.attempt = attempt;
        this.namespace = namespace;
        this.state = RequestState.SUBMITTED;
    }

    public RequestEdit(RequestRow row) {
        incarnation = row.incarnation();
        attempt = row.attempt();
        namespace = row.namespace();
        state = row.state();
        seals = row.seals();
        tail = row.tail();
        lease = row.lease();
        endedMs = row.endedMs();
        keepsPages = row.keepsPages();
        instance = row.instance();
    }

    public RequestRow toRow() {
        return new RequestRow(incarnation, attempt, state, namespace, seals, tail, lease, endedMs, keepsPages, instance);
    }
}
