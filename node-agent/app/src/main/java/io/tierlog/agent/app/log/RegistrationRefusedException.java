/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import io.tierlog.schemas.RefusalReason;

/** The controller does not let this process speak for the node; the message says why and what to do. */
public final class RegistrationRefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final RefusalReason reason;

    RegistrationRefusedException(String node, RefusalReason reason, String detail) {
        super("node " + node + " was refused (" + reason + "): " + detail);
        this.reason = reason;
    }

    /** Why, from the closed list. */
    public RefusalReason reason() {
        return reason;
    }
}
