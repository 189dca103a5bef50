/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

/** Which port moves the bytes of a unit, and so which completion ends it. */
enum Stream {
    DEVICE,
    STORE,
    DISK,
    PEER
}
