/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

/**
 * The bounds that every door has.
 *
 * @param bodyBytes longest body of a request, and longest message of gRPC
 * @param jsonDepth deepest nesting of a body
 * @param requests requests of HTTP in progress at once; one more is answered 503. The directory takes as many questions over gRPC besides
 */
public record ServerLimits(int bodyBytes, int jsonDepth, int requests) {
    /** Refuses bounds that let nothing through. */
    public ServerLimits {
        if (bodyBytes < 1_024 || jsonDepth < 4 || requests < 1) {
            throw new IllegalArgumentException(
                    "a bound of a door is too small: " + bodyBytes + " bytes, " + jsonDepth + " levels, " + requests + " requests");
        }
    }
}
