/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of result codes. */
class CudaResultsTest {
    /** Codes of things that nothing here does: profiling, graphs, stream capture, peers; and the one that means not known. */
    private static final Set<String> ELSEWHERE = Set.of("PROFILER", "STREAM_CAPTURE", "CAPTURED", "GRAPH", "CDP", "GRAPHICS", "CONTEXT_ALREADY",
            "PEER_ACCESS_ALREADY", "PEER_ACCESS_NOT", "PEER_MEMORY", "PRIMARY_CONTEXT", "UNMAP_FAILED", "OPERATING_SYSTEM", "ILLEGAL_STATE",
            "ERROR_TIMEOUT", "ERROR_UNKNOWN");

    @ParameterizedTest
    @CsvSource({
        "1, INVALID_VALUE", "2, OUT_OF_MEMORY", "3, NOT_INITIALIZED", "100, NOT_INITIALIZED", "201, DEVICE_LOST", "214, DEVICE_LOST",
        "218, UNSUPPORTED", "400, INVALID_VALUE", "600, NOT_READY", "700, ILLEGAL_ADDRESS", "702, LAUNCH_FAILED", "709, DEVICE_LOST",
        "712, INVALID_VALUE", "713, INVALID_VALUE", "716, ILLEGAL_ADDRESS", "719, LAUNCH_FAILED", "801, UNSUPPORTED", "999, UNKNOWN", "4711, UNKNOWN"
    })
    void aCodeHasItsKind(int code, Kind kind) {
        assertEquals(kind, CudaResults.kindOf(code));
    }

    @Test
    void everyCodeOfTheDriverIsOnTheTable() throws IllegalAccessException {
        List<String> missing = new ArrayList<>();
        for (Field field : CUresult.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
                int code = field.getInt(null);
                boolean elsewhere = ELSEWHERE.stream().anyMatch(field.getName()::contains);
                if (code != CUresult.CUDA_SUCCESS && !elsewhere && CudaResults.kindOf(code) == Kind.UNKNOWN) {
                    missing.add(field.getName());
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    @Test
    void aFaultNamesTheCallAndWhatToDo() {
        DeviceFault fault = CudaResults.fault(2, "cuMemHostRegister", "pinning 4096 bytes");
        assertEquals("OUT_OF_MEMORY (code 2): cuMemHostRegister answered CUDA_ERROR_OUT_OF_MEMORY: pinning 4096 bytes. Give the device or the host"
                + " fewer blocks, or look for who else holds memory with nvidia-smi", fault.getMessage());
        assertEquals(2, fault.code());
    }

    @Test
    void aFailedQueryEndsTheContextForEveryCode() {
        for (int code : new int[] {1, 2, 3, 400, 700, 719, 999}) {
            DeviceFault fault = CudaResults.lookFault(code, "cuEventQuery", "looking");
            assertTrue(fault.kind().endsContext(), code + " became " + fault.kind());
            assertEquals(code, fault.code());
        }
        assertEquals(Kind.ILLEGAL_ADDRESS, CudaResults.lookFault(700, "cuEventQuery", "looking").kind());
        assertTrue(Arrays.stream(Kind.values()).anyMatch(Kind::endsContext));
    }
}
