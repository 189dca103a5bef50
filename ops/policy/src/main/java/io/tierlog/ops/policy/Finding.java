/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

/**
 * One thing that is wrong with a document.
 *
 * @param path the field: {@code groups[1].routes[0].threshold}; empty text for the document
 * @param reason what it must be, in words that follow the path
 * @param line line of the document, from 1; 0 when nobody knows it
 */
public record Finding(String path, String reason, int line) {
    /** All of it, for people. */
    @Override
    public String toString() {
        return (line == 0 ? "" : "line " + line + ": ") + (path.isEmpty() ? "the document" : path) + ": " + reason;
    }
}
