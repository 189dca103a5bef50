/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

/** Which port moves the bytes of a unit, and so which completion ends it. */
public enum TransferPort {
    DEVICE,
    STORE,
    DISK,
    PEER
}
