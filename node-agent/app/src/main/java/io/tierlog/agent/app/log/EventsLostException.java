/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

/** An event could not be delivered: the process must end. */
public final class EventsLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EventsLostException(String message, Throwable cause) {
        super(message, cause);
    }
}
