/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentInput.CallGone;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.schemas.OperationReason;

/** Ends loads to the device whose caller or session is gone: nothing more of them begins to move. Without state; for the core's one thread. */
public final class DeviceLoads implements Component {
    private final AgentContext context;
    private final Operations operations;

    public DeviceLoads(AgentContext context, Operations operations) {
        this.context = context;
        this.operations = operations;
    }

    /** A notice names the pages of the load when they are free, at once when nothing of it moves. */
    @Override
    public void callGone(CallGone gone) {
        boolean moves = false;
        for (TransferSession one : operations.all()) {
            if (one instanceof DeviceLoad load && load.call() == gone.call()) {
                moves = true;
                load.noticeWhenFree();
                abandon(load, OperationReason.CANCELLED);
            }
        }
        if (!moves) {
            int capacity = context.device().capacity();
            context.noticeFree(gone.attempt(), gone.pages().stream().filter(page -> page >= 0 && page < capacity).toList());
        }
    }

    /** The device pages are gone with the session. Loads of requests have ended with their attempts by now. */
    @Override
    public void sessionGone(String session) {
        for (TransferSession one : operations.all()) {
            if (one instanceof DeviceLoad load && load.owner().session().equals(session)) {
                abandon(load, OperationReason.ENGINE_GONE);
            }
        }
    }

    /** Abandons first: the end of the waiting may be the end of the load. */
    private void abandon(TransferSession load, OperationReason why) {
        operations.abandon(load, why);
        operations.stopWaiting(load, why);
    }
}
