/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.api;

/** The session is over; what its last call did is unknown. */
public final class SessionLost extends Exception {
    private static final long serialVersionUID = 1L;

    SessionLost(String reason) {
        super(reason);
    }
}
