/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.Route;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.state.NodeRow;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The routes that change something, one method for each; {@link Listings} has the read-only ones. Safe for use by several threads. */
final class OperatorRoutes {
    private static final String OPENAPI = "openapi.json";

    private final CommittedState view;
    private final OperatorRequests requests;
    private final ApiLimits limits;
    private final ObjectNode openApi = openApi();

    OperatorRoutes(CommittedState view, OperatorRequests requests, ApiLimits limits) {
        this.view = view;
        this.requests = requests;
        this.limits = limits;
    }

    /** All routes. */
    List<Route> all() {
        Stream<Route> own = Stream.of(
                Route.get("/v1/openapi.json", Set.of(), _ -> HttpResponse.of(200, openApi)),
                Route.operate("POST", "/v1/migrations", this::migrate),
                Route.get("/v1/migrations/{id}", Set.of(), ask -> HttpResponse.of(200, migration(ask.path("id")))),
                Route.operate("DELETE", "/v1/migrations/{id}", this::cancel),
                Route.operate("DELETE", "/v1/marks", this::clearMarks),
                Route.operate("POST", "/v1/nodes/{id}/drain", ask -> drain(ask, true)),
                Route.operate("DELETE", "/v1/nodes/{id}/drain", ask -> drain(ask, false)),
                Route.operate("POST", "/v1/policy", new PolicyChanges(view, requests, limits)::change));
        return Stream.concat(own, new Listings(view, limits).all().stream()).toList();
    }

    /** The OpenAPI document beside this class. */
    static ObjectNode openApi() {
        try (InputStream in = Objects.requireNonNull(OperatorRoutes.class.getResourceAsStream(OPENAPI), OPENAPI)) {
            return (ObjectNode) new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new IllegalStateException("openapi.json cannot be read", e);
        }
    }

    private HttpResponse migrate(HttpRequest ask) {
        MigrateCall call = MigrateBody.read(ask.body(), ask.key(), limits, requests);
        OperatorRequests.Progress progress = requests.migrate(ask.caller(), call);
        Map<String, String> headers = Map.of("Location", "/v1/migrations/" + call.id());
        return switch (progress) {
            case CREATED -> new HttpResponse(201, migration(call.id()), headers);
            case KNOWN -> new HttpResponse(200, migration(call.id()), headers);
            case PENDING -> new HttpResponse(202, pending(call), headers);
        };
    }

    private ObjectNode migration(String id) {
        view.requireWhole(Rows.MIGRATIONS);
        return view.read(state -> {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            MigrationJson.whole(json, id, state.knownMigration(id));
            return json.put("as_of_ms", state.asOfMs(StateSnapshot.MIGRATION + id));
        });
    }

    /** A migration without a decision yet: all details of the order, or its id alone. */
    private ObjectNode pending(MigrateCall call) {
        boolean known = view.read(state -> state.migration(call.id()) != null);
        if (known) {
            return migration(call.id());
        }
        return view.read(state -> {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            return json.put("id", call.id()).put("state", "SUBMITTED").put("as_of_ms", state.asOfMs(StateSnapshot.MIGRATION + call.id()));
        });
    }

    private HttpResponse cancel(HttpRequest ask) {
        String id = ask.path("id");
        Duration patience = patience(ask.body());
        ask.body().done();
        MigrationState state = requests.cancel(ask.caller(), id, patience);
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("id", id).put("state", state.name());
        long asOfMs = view.read(glance -> glance.asOfMs(StateSnapshot.MIGRATION + id));
        return HttpResponse.of(202, json.put("as_of_ms", asOfMs));
    }

    private HttpResponse clearMarks(HttpRequest ask) {
        JsonBody body = ask.body();
        String node = body.required("node", body.name("node", MigrateCall.NODE, MigrateCall.NODE_IS));
        String request = MigrateBody.id(body, ask.key(), "c-");
        List<BlockName> blocks = MigrateBody.blocks(body, limits);
        Duration patience = patience(body);
        body.done();
        OperatorRequests.Wish wish = new OperatorRequests.Wish(Objects.requireNonNull(node), request, patience);
        OperatorRequests.Cleared cleared = requests.clearMarks(ask.caller(), wish, blocks);
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("node", node).put("id", request).put("cleared", cleared.blocks()).put("done", cleared.decided() == OperatorRequests.Decided.YES);
        long asOfMs = view.read(state -> state.asOfMs(StateSnapshot.NODE + node));
        return HttpResponse.of(status(cleared.decided()), json.put("as_of_ms", asOfMs));
    }

    private HttpResponse drain(HttpRequest ask, boolean drain) {
        String node = ask.path("id");
        JsonBody body = ask.body();
        Optional<String> instance = body.name("instance", MigrateCall.ID, "the name of an engine instance: " + MigrateCall.ID_IS);
        String request = MigrateBody.id(body, ask.key(), "d-");
        Duration patience = patience(body);
        body.done();
        OperatorRequests.Wish wish = new OperatorRequests.Wish(node, request, patience);
        OperatorRequests.Decided decided = requests.drain(ask.caller(), wish, drain, instance.orElse(null));
        return HttpResponse.of(status(decided), view.read(state -> drained(state, node, request)));
    }

    private static ObjectNode drained(StateSnapshot state, String node, String request) {
        NodeRow row = state.knownNode(node);
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("node", node).put("id", request);
        json.put("draining", row.shares() != null && row.shares().draining());
        json.put("drained", row.shares() != null && row.shares().drained());
        json.put("left_blocks", row.shares() != null && row.shares().drained() ? row.shares().drainLeft() : 0);
        ArrayNode instances = json.putArray("draining_instances");
        if (row.shares() != null) {
            row.shares().drainingInstances().forEach(instances::add);
        }
        return json.put("as_of_ms", state.asOfMs(StateSnapshot.NODE + node));
    }

    private Duration patience(JsonBody body) {
        return requests.patience(body.integer("deadline_ms", 0, limits.longestDeadlineMs()));
    }

    private static int status(OperatorRequests.@Nullable Decided decided) {
        return decided == OperatorRequests.Decided.YES ? 200 : 202;
    }
}
