/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;

/** Why a request is not done, as RFC 9457 has it: what it is, what is wrong this time, and what to do. */
final class Problem extends RuntimeException {
    static final String MEDIA_TYPE = "application/problem+json";
    private static final long serialVersionUID = 1L;

    private final Kind kind;
    private final String detail;
    private final String action;
    private final transient List<Finding> findings;

    /**
     * One thing that is wrong with a request.
     *
     * @param field where, for example blocks[3].key; empty text when it is no field
     * @param detail what is wrong with it
     */
    record Finding(String field, String detail) {}

    /** The closed list of problems, each with its status. */
    enum Kind {
        INVALID_REQUEST(400, "The request is not right"),
        UNAUTHENTICATED(401, "Who asks is not known"),
        FORBIDDEN(403, "Not for this role"),
        UNKNOWN_PATH(404, "Nothing is here"),
        NODE_UNKNOWN(404, "No such node"),
        MIGRATION_UNKNOWN(404, "No such migration"),
        METHOD_NOT_ALLOWED(405, "Not with this method"),
        ID_TAKEN(409, "The id stands for another migration"),
        TOO_LATE(409, "It has ended already"),
        BODY_TOO_LARGE(413, "The body is too large"),
        UNSUPPORTED_MEDIA_TYPE(415, "The body is no JSON"),
        REFUSED(422, "The controller refuses"),
        INTERNAL(500, "A fault of the controller"),
        OVERLOADED(503, "Too many requests at once"),
        NOT_READY(503, "Not ready"),
        LOG_UNAVAILABLE(503, "The log cannot be written");

        private final int status;
        private final String title;

        Kind(int status, String title) {
            this.status = status;
            this.title = title;
        }

        int status() {
            return status;
        }

        /** Its name as a URI, which names it for good. */
        String type() {
            return "urn:tierlog:problem:" + name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    Problem(Kind kind, String detail, String action) {
        this(kind, detail, action, List.of());
    }

    Problem(Kind kind, String detail, String action, List<Finding> findings) {
        super(detail);
        this.kind = kind;
        this.detail = detail;
        this.action = action;
        this.findings = List.copyOf(findings);
    }

    Kind kind() {
        return kind;
    }

    String detail() {
        return detail;
    }

    String action() {
        return action;
    }

    List<Finding> findings() {
        return findings;
    }

    /** Seconds after which it may be worth asking again; 0 when that would change nothing. */
    int retryAfterS() {
        return kind.status == 503 ? 1 : 0;
    }

    ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("type", kind.type()).put("title", kind.title).put("status", kind.status).put("detail", detail).put("action", action);
        ArrayNode errors = json.putArray("errors");
        findings.forEach(finding -> errors.addObject().put("field", finding.field()).put("detail", finding.detail()));
        return json;
    }
}
