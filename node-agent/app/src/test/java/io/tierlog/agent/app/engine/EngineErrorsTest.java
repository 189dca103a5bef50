/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.core.port.DeviceFault;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The errors of an engine whose memory the device does not open. */
class EngineErrorsTest {
    @ParameterizedTest
    @CsvSource({
        "INVALID_HANDLE, FAILED_PRECONDITION, LAYOUT_MISMATCH, false",
        "UNSUPPORTED, FAILED_PRECONDITION, LAYOUT_MISMATCH, false",
        "OUT_OF_MEMORY, RESOURCE_EXHAUSTED, BUSY, true",
        "DEVICE_LOST, UNAVAILABLE, CLOSING, false",
        "UNKNOWN, UNAVAILABLE, CLOSING, false",
    })
    void aFaultOfTheDeviceIsTyped(DeviceFault.Kind kind, Status.Code code, String refusal, String retry) {
        StatusRuntimeException error = EngineErrors.of(new DeviceFault(kind, 7, "why"));

        assertEquals(code, error.getStatus().getCode());
        assertEquals(kind + " (code 7): why", error.getStatus().getDescription());
        Metadata trailers = error.getTrailers();
        assertNotNull(trailers);
        assertEquals(refusal, trailers.get(EngineErrors.REFUSAL));
        assertEquals(retry, trailers.get(EngineErrors.RETRY));
    }
}
