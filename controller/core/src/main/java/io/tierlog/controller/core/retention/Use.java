/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

/**
 * One use of blocks by a request.
 *
 * @param atMs log time of the request, never less than that of the one before
 * @param partial number of the block that the prompt filled only in part, or {@link #NONE}; the next turn of a conversation has another block there
 */
public record Use(long atMs, long partial) {
    /** No block of the request is partial. */
    public static final long NONE = -1;
}
