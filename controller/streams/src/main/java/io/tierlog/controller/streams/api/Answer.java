/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/**
 * What is answered.
 *
 * @param status the HTTP status
 * @param body a JSON object
 * @param headers further headers
 */
record Answer(int status, ObjectNode body, Map<String, String> headers) {
    static Answer of(int status, ObjectNode body) {
        return new Answer(status, body, Map.of());
    }
}
