/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.CallGone;
import io.tierlog.schemas.OperationReason;

/** Ends the moves to the device that nobody waits for any more: nothing more of them begins to move. Without state. */
final class Callers {
    private Callers() {}

    /** The caller has gone: a notice names the pages of its move when they are free, at once when nothing of it moves. */
    static void callGone(Desk desk, Operations operations, CallGone in) {
        boolean moves = false;
        for (Session one : operations.all()) {
            if (one instanceof ToDevice move && move.call() == in.call()) {
                moves = true;
                move.unheard();
                giveUp(operations, move, OperationReason.CANCELLED);
            }
        }
        if (!moves) {
            desk.tellFree(in.attempt(), in.pages().stream().filter(page -> page >= 0 && page < desk.device.capacity()).toList());
        }
    }

    /** The session, and its device pages with it, have gone. Loads of requests have ended with their attempts by now. */
    static void sessionGone(Operations operations, String session) {
        for (Session one : operations.all()) {
            if (one instanceof ToDevice move && move.owner().session().equals(session)) {
                giveUp(operations, move, OperationReason.ENGINE_GONE);
            }
        }
    }

    /** Of no use first: the end of the waiting may be the end of the move. */
    private static void giveUp(Operations operations, Session move, OperationReason why) {
        operations.abandon(move, why);
        operations.stopWaiting(move, why);
    }
}
