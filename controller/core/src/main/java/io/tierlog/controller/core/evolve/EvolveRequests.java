/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.evolve;

import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.controller.core.state.SealedReports;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.decision.SealedNoted;
import io.tierlog.schemas.state.RequestRow;
import io.tierlog.schemas.state.SealedRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Facts about requests. Without state. */
final class EvolveRequests {
    private EvolveRequests() {}

    static void admitted(Tables t, RequestAdmitted fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.request());
        RequestRow earlier = t.get(Rows.REQUESTS, key);
        if (earlier != null && !RequestStates.isEnd(earlier.state())) {
            throw new IllegalHistory("A new attempt of " + fact.request() + " begins while " + earlier.attempt() + " goes on");
        }
        if (earlier != null && earlier.tail()) {
            dropSealed(t, key, earlier.attempt());
        }
        t.put(Rows.REQUESTS, key, new RequestRow(fact.envelope().incarnation(), fact.attempt(), RequestState.SUBMITTED, fact.namespace(), 0, false,
                null, 0, fact.keepsPages(), fact.instance()));
    }

    static void transitioned(Tables t, RequestTransitioned fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.request());
        RequestRow row = need(t, key, fact.attempt());
        if (row.state() != fact.from() || !RequestStates.isLegal(fact.from(), fact.to())) {
            throw new IllegalHistory("A request that is " + row.state() + " cannot go from " + fact.from() + " to " + fact.to());
        }
        RequestRow.Edit request = row.edit();
        request.state = fact.to();
        if (RequestStates.isEnd(fact.to())) {
            request.endedMs = fact.envelope().timeMs();
            Timers.set(t, fact, RowKey.Timer.Kind.REQUEST, fact.request());
        }
        if (row.tail() && (fact.to() == RequestState.CANCELLED || fact.to() == RequestState.REJECTED)) {
            request.tail = false;
            dropSealed(t, key, row.attempt());
        }
        t.put(Rows.REQUESTS, key, request.row());
    }

    static void sealed(Tables t, SealedNoted fact) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), fact.request());
        RequestRow row = need(t, key, fact.attempt());
        t.put(Rows.SEALED, new RowKey.Sealed(key.aggregate(), fact.request(), fact.attempt(), row.seals()),
                new SealedRow(fact.namespace(), fact.root(), fact.blocks()));
        RequestRow.Edit request = row.edit();
        request.seals++;
        request.tail = true;
        t.put(Rows.REQUESTS, key, request.row());
    }

    /** Takes the sealed blocks of a request off the list, up to and with the last one that a write was issued for; none when that is gone already. */
    static void consumed(Tables t, OperationIssued fact, String request) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), request);
        RequestRow row = t.get(Rows.REQUESTS, key);
        if (row == null || row.attempt() != fact.attempt() || !row.tail() || fact.blocks().isEmpty()) {
            return;
        }
        List<SealedReports.Report> reports = SealedReports.of(t, key.aggregate(), request, fact.attempt());
        for (int i = 0; i < reports.size(); i++) {
            RowKey.Sealed report = reports.get(i).key();
            SealedRow sealed = reports.get(i).row();
            int last = lastOf(sealed.blocks(), fact);
            if (last < 0) {
                continue;
            }
            reports.subList(0, i).forEach(before -> t.delete(Rows.SEALED, before.key()));
            List<PagedBlock> rest = sealed.blocks().subList(last + 1, sealed.blocks().size());
            if (rest.isEmpty()) {
                t.delete(Rows.SEALED, report);
            } else {
                t.put(Rows.SEALED, report, new SealedRow(sealed.namespace(), sealed.root(), rest));
            }
            setTail(t, key, row, !rest.isEmpty() || i + 1 < reports.size());
            return;
        }
    }

    /** Where in {@code blocks} the last block of the operation is; -1 when it is not there. */
    private static int lastOf(List<PagedBlock> blocks, OperationIssued fact) {
        var key = fact.blocks().getLast().key();
        for (int i = blocks.size() - 1; i >= 0; i--) {
            if (blocks.get(i).block().key().equals(key)) {
                return i;
            }
        }
        return -1;
    }

    private static void setTail(Tables t, RowKey.Text key, RequestRow row, boolean tail) {
        RequestRow.Edit request = row.edit();
        request.tail = tail;
        t.put(Rows.REQUESTS, key, request.row());
    }

    /** Records the lease of a request. */
    static void leased(Tables t, Fact fact, String request, int attempt, String lease) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), request);
        RequestRow row = t.get(Rows.REQUESTS, key);
        if (row != null && row.attempt() == attempt) {
            setLease(t, key, row, lease);
        }
    }

    /** Removes a request's lease; the same attempt may have another one by now, in a later incarnation of its node. */
    static void unleased(Tables t, Fact fact, String request, String lease) {
        RowKey.Text key = new RowKey.Text(fact.envelope().aggregate(), request);
        RequestRow row = t.get(Rows.REQUESTS, key);
        if (row != null && lease.equals(row.lease())) {
            setLease(t, key, row, null);
        }
    }

    private static void setLease(Tables t, RowKey.Text key, RequestRow row, @Nullable String lease) {
        RequestRow.Edit owner = row.edit();
        owner.lease = lease;
        t.put(Rows.REQUESTS, key, owner.row());
    }

    private static RequestRow need(Tables t, RowKey.Text key, int attempt) {
        RequestRow row = t.get(Rows.REQUESTS, key);
        if (row == null || row.attempt() != attempt) {
            throw new IllegalHistory("Request " + key.id() + " attempt " + attempt + " is not known");
        }
        return row;
    }

    /** Drops the sealed blocks of an attempt that were not yet considered for write-back; returns how many reports of them there were. */
    static int dropSealed(Tables t, RowKey.Text request, int attempt) {
        List<SealedReports.Report> reports = SealedReports.of(t, request.aggregate(), request.id(), attempt);
        reports.forEach(sealed -> t.delete(Rows.SEALED, sealed.key()));
        return reports.size();
    }
}
