/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.schemas.OperationReason;

/** A call to a server of objects that failed: STORE_UNAVAILABLE when nothing in the store can be read, IO when it may be this object alone. */
final class StoreFault extends Exception {
    private static final long serialVersionUID = 1L;

    private final OperationReason reason;
    private final boolean pause;

    private StoreFault(OperationReason reason, boolean pause, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.pause = pause;
    }

    /** The server did not answer, or not in time: other calls would wait in vain too. */
    static StoreFault silent(String message, Throwable cause) {
        return new StoreFault(OperationReason.STORE_UNAVAILABLE, true, message, cause);
    }

    /** The server answered that it does not serve this client, or not now. */
    static StoreFault refused(String message, Throwable cause) {
        return new StoreFault(OperationReason.STORE_UNAVAILABLE, false, message, cause);
    }

    /** The server could not do this one call. */
    static StoreFault failed(String message, Throwable cause) {
        return new StoreFault(OperationReason.IO, false, message, cause);
    }

    /** The server has no space for more. */
    static StoreFault full(String message, Throwable cause) {
        return new StoreFault(OperationReason.NO_ROOM, false, message, cause);
    }

    OperationReason reason() {
        return reason;
    }

    /** True when calls that come at once would probably wait as long as this one. */
    boolean asksForPause() {
        return pause;
    }
}
