/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.util.Map;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProcessingExceptionHandler;
import org.apache.kafka.streams.processor.api.Record;

/** Every failure to process a record stops the instance; the uncaught handler logs it once. Created by Streams. */
public final class FailWithoutLogging implements ProcessingExceptionHandler {
    @Override
    public Response handleError(ErrorHandlerContext context, Record<?, ?> record, Exception exception) {
        return Response.fail();
    }

    @Override
    public void configure(Map<String, ?> configs) {
        // Nothing to configure.
    }
}
