/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.schemas.Bytes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import jcuda.driver.CUipcMemHandle;

/** IPC handles as the 64 bytes that travel between processes. JCuda has them in a private field. Static and without state. */
final class IpcHandles {
    private static final VarHandle RESERVED = reserved();

    private IpcHandles() {}

    static CUipcMemHandle of(Bytes bytes) {
        CUipcMemHandle handle = new CUipcMemHandle();
        RESERVED.set(handle, bytes.toArray());
        return handle;
    }

    static Bytes bytes(CUipcMemHandle handle) {
        return Bytes.copyOf((byte[]) RESERVED.get(handle));
    }

    private static VarHandle reserved() {
        try {
            return MethodHandles.privateLookupIn(CUipcMemHandle.class, MethodHandles.lookup())
                    .findVarHandle(CUipcMemHandle.class, "reserved", byte[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
