/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertSame;

import io.tierlog.agent.app.log.RegistrationRefusedException;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RegistrationsTest {
    /** Otherwise it would stay unregistered, and no line would tell why. */
    @Test
    void anErrorEndsTheAgent() throws Exception {
        Error error = new StackOverflowError();
        Owner owner = new Owner(error);
        // The question fails before any of its parts is used.
        new Registrations(new Registrations.Parts("a", null, null, Duration.ofSeconds(1), () -> null, Optional.empty(), owner)).begin(false);
        assertSame(error, owner.failure.get(30, TimeUnit.SECONDS));
    }

    private static final class Owner implements Registrations.Owner {
        final CompletableFuture<Throwable> failure = new CompletableFuture<>();
        private Error first;

        Owner(Error first) {
            this.first = first;
        }

        @Override
        public boolean isStopping() {
            if (first != null) {
                Error now = first;
                first = null;
                throw now;
            }
            return false;
        }

        @Override
        public Event registering(Envelope envelope) {
            throw new AssertionError("nothing is asked");
        }

        @Override
        public void refused(RegistrationRefusedException why) {
            failure.complete(why);
        }

        @Override
        public void failed(Throwable why) {
            failure.complete(why);
        }
    }
}
