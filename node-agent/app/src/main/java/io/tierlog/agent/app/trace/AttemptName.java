/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.trace;

import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackEvent;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestRejected;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.SaveRequested;
import io.tierlog.schemas.event.WaitExpired;
import org.jspecify.annotations.Nullable;

/** Names an attempt within the node, as events do. */
record AttemptName(String request, int attempt) {
    /** The attempt that an event is about; null when it is about none, or names an operation of a command. */
    static @Nullable AttemptName of(Event event) {
        return switch (event) {
            case RequestSubmitted e -> new AttemptName(e.request(), e.attempt());
            case RequestPrefilled e -> new AttemptName(e.request(), e.attempt());
            case RequestFinished e -> new AttemptName(e.request(), e.attempt());
            case RequestCancelled e -> new AttemptName(e.request(), e.attempt());
            case RequestRejected e -> new AttemptName(e.request(), e.attempt());
            case WaitExpired e -> new AttemptName(e.request(), e.attempt());
            case BlocksSealed e -> new AttemptName(e.request(), e.attempt());
            case SaveRequested e -> new AttemptName(e.request(), e.attempt());
            case LoadBackEvent e -> new AttemptName(e.request(), e.attempt());
            default -> null;
        };
    }

    /** Whether the attempt ends with this event. */
    static boolean isEnd(Event event) {
        return event instanceof RequestFinished || event instanceof RequestCancelled || event instanceof RequestRejected;
    }
}
