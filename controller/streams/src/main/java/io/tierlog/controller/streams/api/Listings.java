/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.policy.GroupQuotas;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.Route;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.state.MarkRow;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The read-only routes: lists, page by page, and single nodes. Safe for use by several threads.
 *
 * <p>The token of a page names its last row, so pages stay right while rows come and go.
 */
final class Listings {
    private static final String LIMIT = "limit";
    private static final String AFTER = "after";
    private static final int USUAL_ROWS = 100;

    private final CommittedState view;
    private final ApiLimits limits;

    Listings(CommittedState view, ApiLimits limits) {
        this.view = view;
        this.limits = limits;
    }

    List<Route> all() {
        return List.of(
                Route.get("/v1/migrations", Set.of(LIMIT, AFTER), this::migrations),
                Route.get("/v1/marks", Set.of("node", "group", LIMIT, AFTER), this::marks),
                Route.get("/v1/nodes", Set.of(LIMIT, AFTER), this::nodes),
                Route.get("/v1/nodes/{id}", Set.of(), this::node),
                Route.get("/v1/groups", Set.of(), this::groups),
                Route.get("/v1/policy", Set.of(), this::policy));
    }

    private HttpResponse migrations(HttpRequest ask) {
        view.requireWhole(Rows.MIGRATIONS);
        int rows = rows(ask);
        Optional<Cursor> after = ask.query(AFTER).map(token -> Cursor.parse(token, 2));
        long newest = after.map(cursor -> cursor.number(0)).orElse(Long.MAX_VALUE);
        String last = after.map(cursor -> cursor.text(1)).orElse("");
        return view.read(state -> {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            ArrayNode list = json.putArray("migrations");
            Cursor next = null;
            StateSnapshot.Task shown = null;
            for (StateSnapshot.Task task : state.migrations()) {
                long asked = task.row().askedMs();
                if (asked > newest || (asked == newest && task.id().compareTo(last) <= 0)) {
                    continue;
                }
                if (list.size() == rows && shown != null) {
                    next = Cursor.of(String.valueOf(shown.row().askedMs()), shown.id());
                    break;
                }
                MigrationJson.summary(list.addObject(), task.id(), task.row());
                shown = task;
            }
            return paged(json, next, state.asOfMs());
        });
    }

    private HttpResponse marks(HttpRequest ask) {
        view.requireWhole(Rows.MARKS);
        view.requireWhole(Rows.NAMESPACES);
        int rows = rows(ask);
        Optional<Cursor> after = ask.query(AFTER).map(token -> Cursor.parse(token, 3));
        return view.read(state -> {
            List<String> nodes = ask.query("node").map(node -> {
                state.knownNode(node);
                return List.of(node);
            }).orElseGet(state::nodes);
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            MarkPage page = new MarkPage(state, json.putArray("marks"), ask.query("group"), rows);
            for (String node : nodes) {
                RowKey.Mark from = ScanKeys.firstMark(node);
                if (after.isPresent()) {
                    int order = node.compareTo(after.get().text(0));
                    if (order < 0) {
                        continue;
                    }
                    if (order == 0) {
                        from = ScanKeys.after(new RowKey.Mark(from.aggregate(), after.get().digest(1), after.get().bytes(2)));
                    }
                }
                state.marks(from, page);
            }
            return paged(json, page.next, state.asOfMs());
        });
    }

    /** Collects the marks of one page. */
    private static final class MarkPage implements StateSnapshot.Sink<RowKey.Mark, MarkRow> {
        private final StateSnapshot state;
        private final ArrayNode list;
        private final Optional<String> group;
        private final int rows;
        private RowKey.@Nullable Mark shown;
        private @Nullable Cursor next;

        MarkPage(StateSnapshot state, ArrayNode list, Optional<String> group, int rows) {
            this.state = state;
            this.list = list;
            this.group = group;
            this.rows = rows;
        }

        @Override
        public boolean take(RowKey.Mark key, MarkRow row) {
            String itsGroup = GroupQuotas.groupOf(state.policy(), row.namespace());
            if (group.isPresent() && !group.get().equals(itsGroup)) {
                return true;
            }
            RowKey.Mark last = shown;
            if (list.size() == rows && last != null) {
                next = Cursor.of(last.aggregate().substring(StateSnapshot.NODE.length()), last.namespace().hex(), last.block().hex());
                return false;
            }
            put(list.addObject(), key, row, itsGroup);
            shown = key;
            return true;
        }

        private static void put(ObjectNode json, RowKey.Mark key, MarkRow row, String group) {
            MoveCause move = row.move();
            json.put("node", key.aggregate().substring(StateSnapshot.NODE.length())).put("namespace", row.namespace()).put("key", key.block().hex());
            json.put("group", group).put("target", row.target().name()).put("end_ms", row.endMs()).put("clearing", row.clearing().name());
            json.put("fallback_from", row.fallbackFrom() == MigrationMethod.COPY ? "COPY" : null);
            json.put("operation", row.operation()).put("trigger", move.trigger().name()).put("migration", move.migration());
            json.put("policy_version", move.policyVersion());
        }
    }

    private HttpResponse nodes(HttpRequest ask) {
        view.requireWhole(Rows.NODES);
        int rows = rows(ask);
        String last = ask.query(AFTER).map(token -> Cursor.parse(token, 1).text(0)).orElse("");
        return view.read(state -> {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            ArrayNode list = json.putArray("nodes");
            Cursor next = null;
            String shown = "";
            for (String node : state.nodes()) {
                if (node.compareTo(last) <= 0) {
                    continue;
                }
                if (list.size() == rows) {
                    next = Cursor.of(shown);
                    break;
                }
                NodeJson.summary(list.addObject(), node, state.knownNode(node));
                shown = node;
            }
            return paged(json, next, state.asOfMs());
        });
    }

    private HttpResponse node(HttpRequest ask) {
        view.requireWhole(Rows.NODES);
        view.requireWhole(Rows.NAMESPACES);
        String node = ask.path("id");
        return view.read(state -> {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            NodeJson.whole(json, node, state.knownNode(node), state, limits.namespaces());
            return HttpResponse.of(200, json.put("as_of_ms", state.asOfMs(StateSnapshot.NODE + node)));
        });
    }

    private HttpResponse groups(HttpRequest ask) {
        view.requireWhole(Rows.NODES);
        view.requireWhole(Rows.NAMESPACES);
        return view.read(state -> {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            GroupJson.list(json.putArray("groups"), state, limits.namespaces());
            return HttpResponse.of(200, json.put("policy_version", state.policyVersion()).put("as_of_ms", state.asOfMs()));
        });
    }

    private HttpResponse policy(HttpRequest ask) {
        return view.read(state -> {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            json.put("version", state.policyVersion());
            json.set("policy", RecordJson.of(state.policy()));
            return HttpResponse.of(200, json.put("as_of_ms", state.asOfMs()));
        });
    }

    private int rows(HttpRequest ask) {
        return ask.query(LIMIT, 1, limits.pageRows(), Math.min(USUAL_ROWS, limits.pageRows()));
    }

    private static HttpResponse paged(ObjectNode json, @Nullable Cursor next, long asOfMs) {
        json.put("next", next == null ? null : next.token());
        return HttpResponse.of(200, json.put("as_of_ms", asOfMs));
    }
}
