/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.api;

import io.grpc.Status;

/** The agent has refused a call and done nothing; the session goes on. */
public final class CallRefused extends Exception {
    private static final long serialVersionUID = 1L;

    private final String call;
    private final Status.Code code;

    CallRefused(String call, Status status) {
        super(call + " was refused: " + status.getCode() + " " + status.getDescription());
        this.call = call;
        this.code = status.getCode();
    }

    /** Call and kind of refusal, for counting. */
    public String summary() {
        return call + " " + code;
    }

    /** The kind of refusal. */
    public Status.Code code() {
        return code;
    }

    /** Whether the same call may succeed later. */
    public boolean isRetry() {
        return code == Status.Code.RESOURCE_EXHAUSTED || code == Status.Code.UNAVAILABLE || code == Status.Code.ABORTED;
    }
}
