/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/**
 * A successful response.
 *
 * @param status the HTTP status
 * @param body a JSON object
 * @param headers further headers
 */
public record HttpResponse(int status, ObjectNode body, Map<String, String> headers) {
    /** A response without further headers. */
    public static HttpResponse of(int status, ObjectNode body) {
        return new HttpResponse(status, body, Map.of());
    }
}
