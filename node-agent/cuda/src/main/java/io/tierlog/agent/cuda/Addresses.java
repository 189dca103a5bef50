/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;

/**
 * Addresses as numbers, which JCuda keeps to itself: its pointers let subclasses set and get them. Static and without state.
 */
final class Addresses {
    private Addresses() {}

    /** A pointer that the driver fills in and that gives the address it received. */
    static final class Device extends CUdeviceptr {
        long address() {
            return getNativePointer();
        }
    }

    private static final class Host extends Pointer {
        Host(long address) {
            super(address);
        }
    }

    static Pointer host(long address) {
        return new Host(address);
    }

    /** The class for device pointers cannot be given an address; one to nothing can be moved by it. */
    static CUdeviceptr device(long address) {
        return new CUdeviceptr().withByteOffset(address);
    }
}
