/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import jcuda.driver.CUresult;

/**
 * The table from the driver's result codes to kinds of faults. Static and without state.
 *
 * <p>Codes and meanings: CUDA Driver API, enum CUresult. A code that the driver documents as leaving the process in an inconsistent state has
 * a kind that ends the context; one that is not on the table is UNKNOWN, which does too.
 */
final class CudaResults {
    private CudaResults() {}

    /** The kind of a code other than CUDA_SUCCESS. */
    static Kind kindOf(int code) {
        return switch (code) {
            case CUresult.CUDA_ERROR_INVALID_VALUE,
                    CUresult.CUDA_ERROR_INVALID_HANDLE,
                    CUresult.CUDA_ERROR_ARRAY_IS_MAPPED,
                    CUresult.CUDA_ERROR_ALREADY_MAPPED,
                    CUresult.CUDA_ERROR_ALREADY_ACQUIRED,
                    CUresult.CUDA_ERROR_NOT_MAPPED,
                    CUresult.CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
                    CUresult.CUDA_ERROR_NOT_MAPPED_AS_POINTER,
                    CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                    CUresult.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                    CUresult.CUDA_ERROR_INVALID_CLUSTER_SIZE -> Kind.INVALID_VALUE;
            case CUresult.CUDA_ERROR_OUT_OF_MEMORY, CUresult.CUDA_ERROR_MAP_FAILED, CUresult.CUDA_ERROR_TOO_MANY_PEERS -> Kind.OUT_OF_MEMORY;
            case CUresult.CUDA_ERROR_NOT_INITIALIZED,
                    CUresult.CUDA_ERROR_STUB_LIBRARY,
                    CUresult.CUDA_ERROR_DEVICE_UNAVAILABLE,
                    CUresult.CUDA_ERROR_NO_DEVICE,
                    CUresult.CUDA_ERROR_INVALID_DEVICE,
                    CUresult.CUDA_ERROR_DEVICE_NOT_LICENSED,
                    CUresult.CUDA_ERROR_SYSTEM_NOT_READY,
                    CUresult.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
                    CUresult.CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
                    CUresult.CUDA_ERROR_MPS_CONNECTION_FAILED,
                    CUresult.CUDA_ERROR_MPS_SERVER_NOT_READY,
                    CUresult.CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
                    CUresult.CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED -> Kind.NOT_INITIALIZED;
            case CUresult.CUDA_ERROR_NOT_READY -> Kind.NOT_READY;
            default -> unsupportedOrOver(code);
        };
    }

    private static Kind unsupportedOrOver(int code) {
        return switch (code) {
            case CUresult.CUDA_ERROR_INVALID_IMAGE,
                    CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU,
                    CUresult.CUDA_ERROR_INVALID_PTX,
                    CUresult.CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
                    CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                    CUresult.CUDA_ERROR_JIT_COMPILATION_DISABLED,
                    CUresult.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
                    CUresult.CUDA_ERROR_INVALID_SOURCE,
                    CUresult.CUDA_ERROR_FILE_NOT_FOUND,
                    CUresult.CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
                    CUresult.CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
                    CUresult.CUDA_ERROR_NOT_FOUND,
                    CUresult.CUDA_ERROR_UNSUPPORTED_LIMIT,
                    CUresult.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                    CUresult.CUDA_ERROR_NOT_PERMITTED,
                    CUresult.CUDA_ERROR_NOT_SUPPORTED -> Kind.UNSUPPORTED;
            case CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
                    CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
                    CUresult.CUDA_ERROR_INVALID_ADDRESS_SPACE,
                    CUresult.CUDA_ERROR_INVALID_PC -> Kind.ILLEGAL_ADDRESS;
            case CUresult.CUDA_ERROR_LAUNCH_FAILED,
                    CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                    CUresult.CUDA_ERROR_LAUNCH_TIMEOUT,
                    CUresult.CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,
                    CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                    CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
                    CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
                    CUresult.CUDA_ERROR_ASSERT -> Kind.LAUNCH_FAILED;
            case CUresult.CUDA_ERROR_DEINITIALIZED,
                    CUresult.CUDA_ERROR_INVALID_CONTEXT,
                    CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,
                    CUresult.CUDA_ERROR_ECC_UNCORRECTABLE,
                    CUresult.CUDA_ERROR_NVLINK_UNCORRECTABLE,
                    CUresult.CUDA_ERROR_MPS_RPC_FAILURE,
                    CUresult.CUDA_ERROR_MPS_CLIENT_TERMINATED,
                    CUresult.CUDA_ERROR_EXTERNAL_DEVICE -> Kind.DEVICE_LOST;
            default -> Kind.UNKNOWN;
        };
    }

    /** The fault of a call that answered {@code code}; {@code what} describes the call, with the numbers. */
    static DeviceFault fault(int code, String call, String what) {
        Kind kind = kindOf(code);
        return new DeviceFault(kind, code, describe(code, call, what) + advice(kind));
    }

    /**
     * The fault of a call that reports how earlier work ended. No code of such a call tells whether bytes still move, so a kind that
     * would leave the context alive becomes UNKNOWN.
     */
    static DeviceFault lookFault(int code, String call, String what) {
        Kind kind = kindOf(code);
        Kind ending = kind.endsContext() ? kind : Kind.UNKNOWN;
        return new DeviceFault(ending, code, describe(code, call, what) + advice(ending));
    }

    private static String describe(int code, String call, String what) {
        return call + " answered " + CUresult.stringFor(code) + ": " + what;
    }

    private static String advice(Kind kind) {
        if (kind.endsContext()) {
            return ". The context is over: close the device and open it again; if it happens again, look at dmesg for NVRM Xid messages";
        }
        return switch (kind) {
            case OUT_OF_MEMORY -> ". Give the device or the host fewer blocks, or look for who else holds memory with nvidia-smi";
            case NOT_INITIALIZED -> ". Look whether nvidia-smi shows the GPU in this machine or container";
            default -> "";
        };
    }
}
