/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

/** Where the content of a block of a prompt came from. */
public enum Origin {
    /** The engine's own prefix cache. */
    DEVICE,
    /** Loaded; it was on the host when the request came. */
    HOST,
    /** Loaded; it was on the disk. */
    DISK,
    /** Loaded; it was in the shared store. */
    STORE,
    /** No tier had it in time. */
    COMPUTED
}
