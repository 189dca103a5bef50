/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

/**
 * One error in a document.
 *
 * @param path the field: {@code groups[1].routes[0].threshold}; empty text for the document
 * @param reason what it must be, in words that follow the path
 * @param line line of the document, from 1; 0 when it is unknown
 */
public record Finding(String path, String reason, int line) {
    /** The line, the path and the reason. */
    @Override
    public String toString() {
        return (line == 0 ? "" : "line " + line + ": ") + (path.isEmpty() ? "the document" : path) + ": " + reason;
    }
}
