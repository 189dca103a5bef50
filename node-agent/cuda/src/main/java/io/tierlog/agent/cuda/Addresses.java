/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;

/**
 * Addresses as numbers, which JCuda keeps to itself: a pointer to nothing, moved by the address. Static and without state.
 */
final class Addresses {
    private Addresses() {}

    /** A pointer that the driver fills in and that says which address it got. */
    static final class Device extends CUdeviceptr {
        long address() {
            return getNativePointer();
        }
    }

    static Pointer host(long address) {
        return new Pointer().withByteOffset(address);
    }

    static CUdeviceptr device(long address) {
        return new CUdeviceptr().withByteOffset(address);
    }
}
