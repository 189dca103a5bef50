/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;

/** Why a request failed, as problem details (RFC 9457): the kind, the detail of this case, and the action that helps. */
public final class Problem extends RuntimeException {
    /** Media type of its JSON. */
    public static final String MEDIA_TYPE = "application/problem+json";
    private static final long serialVersionUID = 1L;

    private final Kind kind;
    private final String detail;
    private final String action;
    private final transient List<Finding> findings;

    /**
     * One error of a request.
     *
     * @param field path of the field, for example blocks[3].key; empty when the error is not about a field
     * @param detail the rule that the field breaks
     */
    public record Finding(String field, String detail) {}

    /** The closed list of problems, each with its HTTP status. */
    public enum Kind {
        /** The request breaks a rule of the API. */
        INVALID_REQUEST(400, "Invalid Request"),
        /** No token, or an unknown one. */
        UNAUTHENTICATED(401, "Unauthorized"),
        /** The token does not permit this. */
        FORBIDDEN(403, "Forbidden"),
        /** No such path. */
        UNKNOWN_PATH(404, "Not Found"),
        /** No such node. */
        NODE_UNKNOWN(404, "Node Not Found"),
        /** No such migration. */
        MIGRATION_UNKNOWN(404, "Migration Not Found"),
        /** The path has other methods. */
        METHOD_NOT_ALLOWED(405, "Method Not Allowed"),
        /** The id belongs to another request. */
        ID_TAKEN(409, "Id Already In Use"),
        /** The migration has ended. */
        TOO_LATE(409, "Already Ended"),
        /** The body is over the limit. */
        BODY_TOO_LARGE(413, "Content Too Large"),
        /** Not JSON. */
        UNSUPPORTED_MEDIA_TYPE(415, "Unsupported Media Type"),
        /** The controller refused the request. */
        REFUSED(422, "Refused"),
        /** The caller makes too many requests. */
        RATE_LIMITED(429, "Rate Limit Exceeded"),
        /** A fault of this process. */
        INTERNAL(500, "Internal Server Error"),
        /** This instance is not configured for it. */
        NOT_OFFERED(501, "Not Implemented"),
        /** Too many requests are in progress. */
        OVERLOADED(503, "Too Many Requests"),
        /** This instance is still reading the state. */
        NOT_READY(503, "Not Ready"),
        /** The log cannot be written. */
        LOG_UNAVAILABLE(503, "Log Unavailable");

        private final int status;
        private final String title;

        Kind(int status, String title) {
            this.status = status;
            this.title = title;
        }

        /** The HTTP status. */
        public int status() {
            return status;
        }

        /** The kind as a URI; it does not change. */
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
     * @param detail what is wrong in this case
     * @param action what the caller can do
     * @param findings the single errors
     */
    public Problem(Kind kind, String detail, String action, List<Finding> findings) {
        super(detail);
        this.kind = kind;
        this.detail = detail;
        this.action = action;
        this.findings = List.copyOf(findings);
    }

    /** A fault of this process. Its cause goes to the log and not to the caller. */
    public static Problem internal() {
        return new Problem(Kind.INTERNAL, "an internal error occurred", "look at the log of this process, and report this");
    }

    /** The kind. */
    public Kind kind() {
        return kind;
    }

    /** What is wrong in this case. */
    public String detail() {
        return detail;
    }

    /** What the caller can do. */
    public String action() {
        return action;
    }

    /** The single errors. */
    public List<Finding> findings() {
        return findings;
    }

    /** Seconds after which a retry may succeed; 0 when a retry does not help. */
    public int retryAfterS() {
        return kind.status == 503 || kind == Kind.RATE_LIMITED ? 1 : 0;
    }

    /** The problem details. */
    public ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("type", kind.type()).put("title", kind.title).put("status", kind.status).put("detail", detail).put("action", action);
        ArrayNode errors = json.putArray("errors");
        findings.forEach(finding -> errors.addObject().put("field", finding.field()).put("detail", finding.detail()));
        return json;
    }
}
