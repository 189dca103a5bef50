/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

/** A device has refused a call, or work on it has failed. The message names the call and what to do. */
public final class DeviceFault extends Exception {
    private static final long serialVersionUID = 1L;

    /** The closed list of kinds. */
    public enum Kind {
        /** An argument is wrong: out of bounds, not open, not aligned. A defect of the caller. */
        INVALID_VALUE(false),
        /** A handle of an engine names no memory here, or less than the engine claims. */
        INVALID_HANDLE(false),
        /** The device or the system has no memory or address space left for the call. */
        OUT_OF_MEMORY(false),
        /** Nothing of the sort on this device, for example an IPC handle on an emulated one. */
        UNSUPPORTED(false),
        /** The driver is not there or has not been initialised. */
        NOT_INITIALIZED(false),
        /** It has not ended yet, where the call demanded an end. */
        NOT_READY(false),
        /** Memory of an engine has gone from under a copy: the engine's loss alone. */
        MEMORY_GONE(false),
        /** A copy has failed and the device continues. */
        COPY_FAILED(false),
        /** A copy touched an address that is not mapped. */
        ILLEGAL_ADDRESS(true),
        /** A kernel could not run or died. */
        LAUNCH_FAILED(true),
        /** The device has fallen off the bus, or the context is over. */
        DEVICE_LOST(true),
        /** A code that is not on this list; see {@link DeviceFault#code}. Taken as one that ends the context. */
        UNKNOWN(true);

        private final boolean endsContext;

        Kind(boolean endsContext) {
            this.endsContext = endsContext;
        }

        /** True when nothing works on this device now, and copies may be under way until it is closed. */
        public boolean endsContext() {
            return endsContext;
        }
    }

    private final Kind kind;
    private final int code;

    /**
     * A fault with the driver's own code.
     *
     * @param code the driver's number, 0 when there is none
     * @param message the call, the numbers, and what to do
     */
    public DeviceFault(Kind kind, int code, String message) {
        super(kind + (code == 0 ? "" : " (code " + code + ")") + ": " + message);
        this.kind = kind;
        this.code = code;
    }

    /** A fault that no driver has numbered. */
    public DeviceFault(Kind kind, String message) {
        this(kind, 0, message);
    }

    /** Which of the closed list. */
    public Kind kind() {
        return kind;
    }

    /** The driver's number, 0 when there is none. */
    public int code() {
        return code;
    }
}
