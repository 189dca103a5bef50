/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import kafka.server.FaultHandlerFactory;
import org.apache.kafka.server.fault.FaultHandler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the first fatal fault of the broker instead of ending the process, which is what Kafka does on its own: here the process
 * is not the broker's. Thread-safe.
 */
final class FaultLog implements FaultHandlerFactory {
    private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);

    private final CompletableFuture<RuntimeException> fatal = new CompletableFuture<>();

    CompletionStage<RuntimeException> fatal() {
        return fatal.minimalCompletionStage();
    }

    @Override
    public FaultHandler build(String name, boolean isFatal, Runnable action) {
        return new FaultHandler() {
            @Override
            public RuntimeException handleFault(String message, @Nullable Throwable cause) {
                RuntimeException fault = new IllegalStateException(name + ": " + message, cause);
                LOG.error("the embedded broker met a {}fault", isFatal ? "fatal " : "", fault);
                action.run();
                if (isFatal) {
                    fatal.complete(fault);
                }
                return fault;
            }
        };
    }
}
