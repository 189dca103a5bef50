/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;

/** Why a request is not done, as RFC 9457 has it: what it is, what is wrong this time, and what to do. */
public final class Problem extends RuntimeException {
    /** Media type of its JSON. */
    public static final String MEDIA_TYPE = "application/problem+json";
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
    public record Finding(String field, String detail) {}

    /** The closed list of problems, each with its status. */
    public enum Kind {
        /** The request is wrong in itself. */
        INVALID_REQUEST(400, "The request is not right"),
        /** No token, or none that is known. */
        UNAUTHENTICATED(401, "Who asks is not known"),
        /** The token does not let this be done. */
        FORBIDDEN(403, "Not for this role"),
        /** No such path. */
        UNKNOWN_PATH(404, "Nothing is here"),
        /** No such node. */
        NODE_UNKNOWN(404, "No such node"),
        /** No such migration. */
        MIGRATION_UNKNOWN(404, "No such migration"),
        /** The path takes other methods. */
        METHOD_NOT_ALLOWED(405, "Not with this method"),
        /** The id stands for something else. */
        ID_TAKEN(409, "The id stands for another migration"),
        /** It has ended. */
        TOO_LATE(409, "It has ended already"),
        /** Over the bound of bodies. */
        BODY_TOO_LARGE(413, "The body is too large"),
        /** Not JSON. */
        UNSUPPORTED_MEDIA_TYPE(415, "The body is no JSON"),
        /** Understood, and refused. */
        REFUSED(422, "The controller refuses"),
        /** A fault of ours. */
        INTERNAL(500, "A fault of the controller"),
        /** Nobody has told this instance how. */
        NOT_OFFERED(501, "Not offered here"),
        /** Over the bound of requests at once. */
        OVERLOADED(503, "Too many requests at once"),
        /** The state is still being read. */
        NOT_READY(503, "Not ready"),
        /** The log takes nothing. */
        LOG_UNAVAILABLE(503, "The log cannot be written");

        private final int status;
        private final String title;

        Kind(int status, String title) {
            this.status = status;
            this.title = title;
        }

        /** Its status of HTTP. */
        public int status() {
            return status;
        }

        /** Its name as a URI, which names it for good. */
        public String type() {
            return "urn:tierlog:problem:" + name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** A problem without findings. */
    public Problem(Kind kind, String detail, String action) {
        this(kind, detail, action, List.of());
    }

    /**
     * A problem.
     *
     * @param detail what is wrong this time
     * @param action what to do
     * @param findings all single things that are wrong
     */
    public Problem(Kind kind, String detail, String action, List<Finding> findings) {
        super(detail);
        this.kind = kind;
        this.detail = detail;
        this.action = action;
        this.findings = List.copyOf(findings);
    }

    /** What it is. */
    public Kind kind() {
        return kind;
    }

    /** What is wrong this time. */
    public String detail() {
        return detail;
    }

    /** What to do. */
    public String action() {
        return action;
    }

    /** All single things that are wrong. */
    public List<Finding> findings() {
        return findings;
    }

    /** Seconds after which it may be worth asking again; 0 when that would change nothing. */
    public int retryAfterS() {
        return kind.status == 503 ? 1 : 0;
    }

    /** As it is sent. */
    public ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("type", kind.type()).put("title", kind.title).put("status", kind.status).put("detail", detail).put("action", action);
        ArrayNode errors = json.putArray("errors");
        findings.forEach(finding -> errors.addObject().put("field", finding.field()).put("detail", finding.detail()));
        return json;
    }
}
