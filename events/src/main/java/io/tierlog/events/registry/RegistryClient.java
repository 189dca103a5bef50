/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.tierlog.events.registry.RegistryHttp.Answer;
import io.tierlog.events.registry.RegistryHttp.Call;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.avro.Schema;

/**
 * Ids from a registry that speaks Confluent's REST API v1 (Confluent, Apicurio under {@code /apis/ccompat/v7}, Karapace, Redpanda): the
 * three calls Tierlog needs and no more.
 *
 * <p>Safe for use by several threads; a call blocks its caller, at most for the call time-out of the {@link RegistryLimits}. Ids and
 * schemas never change once given, so they are remembered and the registry is needed only for what is new. Trade-off: two threads that
 * meet a new id at once both ask.
 */
public final class RegistryClient implements SchemaIds, AutoCloseable {
    private static final String FULL_TRANSITIVE = "FULL_TRANSITIVE";

    private final RegistryHttp http;
    private final long unknownForNs;
    private final BoundedCache<Integer, Schema> schemas;
    private final BoundedCache<Registration, Integer> ids;
    private final BoundedCache<Integer, Long> unknownUntilNs;

    private record Registration(String subject, Schema schema) {}

    /** A client that has not asked anything yet: an unreachable registry shows at the first call. */
    public RegistryClient(RegistryConfig config) {
        this.http = new RegistryHttp(config);
        this.unknownForNs = TimeUnit.MILLISECONDS.toNanos(config.limits().unknownForMs());
        this.schemas = new BoundedCache<>(config.limits().maxCached());
        this.ids = new BoundedCache<>(config.limits().maxCached());
        this.unknownUntilNs = new BoundedCache<>(config.limits().maxCached());
    }

    @Override
    public int register(String subject, Schema schema) {
        Registration registration = new Registration(subject, schema);
        return ids.get(registration).orElseGet(() -> {
            int id = post(registration);
            ids.put(registration, id);
            return id;
        });
    }

    @Override
    public Schema byId(int id) {
        return schemas.get(id).orElseGet(() -> {
            refuseIfKnownUnknown(id);
            Schema schema = fetch(id);
            schemas.put(id, schema);
            return schema;
        });
    }

    /**
     * Sets the rule for a subject to FULL_TRANSITIVE: every version can read every other. May come before the first schema.
     *
     * @throws IncompatibleSchemaException when the registry does not offer the rule
     * @throws RegistryUnavailableException when there was no answer
     */
    public void requireFullTransitive(String subject) {
        String body = JsonNodeFactory.instance.objectNode().put("compatibility", FULL_TRANSITIVE).toString();
        Call call = new Call("PUT", "/config/" + encode(subject), Optional.of(body),
                reply -> FULL_TRANSITIVE.equals(reply.path("compatibility").asText()));
        orRefused(call, subject, http.exchange(call));
    }

    /** Ends requests under way and gives the connections back. */
    @Override
    public void close() {
        http.close();
    }

    private int post(Registration registration) {
        String body = JsonNodeFactory.instance.objectNode().put("schema", registration.schema().toString()).toString();
        Call call = new Call("POST", "/subjects/" + encode(registration.subject()) + "/versions", Optional.of(body),
                reply -> reply.path("id").isInt() && reply.path("id").asInt() >= 0);
        return orRefused(call, registration.subject(), http.exchange(call)).path("id").asInt();
    }

    private JsonNode orRefused(Call call, String subject, Answer answer) {
        return switch (answer.status()) {
            case 200 -> answer.body();
            case 409, 422 -> throw new IncompatibleSchemaException(subject, answer.message());
            default -> throw http.unavailable(call, answer.message());
        };
    }

    private Schema fetch(int id) {
        Call call = new Call("GET", "/schemas/ids/" + id, Optional.empty(), reply -> reply.path("schema").isTextual());
        Answer answer = http.exchange(call);
        return switch (answer.status()) {
            case 200 -> parse(id, answer.body());
            case 404 -> {
                unknownUntilNs.put(id, System.nanoTime() + unknownForNs);
                throw unknown(id);
            }
            default -> throw http.unavailable(call, answer.message());
        };
    }

    /** A flood of records under one unknown id shall not become a flood of requests. */
    private void refuseIfKnownUnknown(int id) {
        if (unknownUntilNs.get(id).filter(until -> until - System.nanoTime() > 0).isPresent()) {
            throw unknown(id);
        }
    }

    private static UnknownSchemaIdException unknown(int id) {
        return new UnknownSchemaIdException(id, "the registry knows no schema of id " + id);
    }

    private static Schema parse(int id, JsonNode reply) {
        String type = reply.path("schemaType").asText("AVRO");
        if (!"AVRO".equals(type)) {
            throw new UnreadableSchemaException(id, "schema " + id + " is of type " + type + ", not AVRO");
        }
        if (!reply.path("references").isEmpty()) {
            throw new UnreadableSchemaException(id, "schema " + id + " refers to other subjects, which Tierlog's schemas never do");
        }
        try {
            return new Schema.Parser().parse(reply.path("schema").asText());
        } catch (RuntimeException e) {
            // Not only Avro's own: its parser meets a name that is defined nowhere with a NullPointerException.
            throw new UnreadableSchemaException(id, "schema " + id + " does not parse: " + e);
        }
    }

    private static String encode(String subject) {
        return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
