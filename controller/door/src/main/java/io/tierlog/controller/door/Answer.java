/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.door;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/**
 * What is answered.
 *
 * @param status the HTTP status
 * @param body a JSON object
 * @param headers further headers
 */
public record Answer(int status, ObjectNode body, Map<String, String> headers) {
    /** An answer without further headers. */
    public static Answer of(int status, ObjectNode body) {
        return new Answer(status, body, Map.of());
    }
}
