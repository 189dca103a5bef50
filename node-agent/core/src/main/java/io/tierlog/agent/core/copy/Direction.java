/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

/** Which way the bytes of a copy go. */
public enum Direction {
    /** Host to device: a request waits for it. */
    LOAD,
    /** Device to host: no engine call waits for it. */
    SAVE
}
