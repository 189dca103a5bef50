/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;

/** An event could not be delivered, or may not be: nothing may follow it under the same sender. */
public final class EventsLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EventsLostException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Without a failure of Kafka's. */
    public EventsLostException(String message) {
        super(message);
    }

    /** Whether the brokers refuse this process, so that another sender would be refused too. */
    public boolean isRefusal() {
        return getCause() instanceof AuthorizationException || getCause() instanceof AuthenticationException;
    }
}
