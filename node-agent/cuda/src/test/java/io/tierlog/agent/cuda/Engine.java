/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.schemas.Bytes;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * An engine in a process of its own, as an IPC handle demands: it allocates device memory, exports it, and reads and writes it when asked.
 * The same against the fake driver and a GPU.
 */
final class Engine implements AutoCloseable {
    private static final String LIBRARY = "tierlog.engine.libcuda";
    private static final long END_SECONDS = 20;
    private static final byte WRITE = 'W';
    private static final byte READ = 'R';

    private final Process process;
    private final DataOutputStream to;
    private final DataInputStream from;
    private final long bytes;
    private final Bytes handle;

    /** Starts an engine with {@code bytes} zero bytes on the device. */
    Engine(Gpu gpu, long bytes) {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java", "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
        gpu.library().ifPresent(path -> command.add("-D" + LIBRARY + "=" + path));
        command.addAll(List.of(Engine.class.getName(), String.valueOf(bytes)));
        try {
            this.bytes = bytes;
            this.process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            this.to = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
            this.from = new DataInputStream(process.getInputStream());
            this.handle = Bytes.copyOf(from.readNBytes(MemoryHandle.CudaIpc.BYTES));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    long bytes() {
        return bytes;
    }

    MemoryHandle handle() {
        return new MemoryHandle.CudaIpc(handle);
    }

    void write(long offset, byte[] content) {
        try {
            to.writeByte(WRITE);
            to.writeLong(offset);
            to.writeInt(content.length);
            to.write(content);
            to.flush();
            // Answered once the bytes are on the device.
            from.readByte();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    byte[] read(long offset, int length) {
        try {
            to.writeByte(READ);
            to.writeLong(offset);
            to.writeInt(length);
            to.flush();
            return from.readNBytes(length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends the process as a crash does. */
    void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    @Override
    public void close() {
        try {
            to.close();
        } catch (IOException e) {
            // It has gone already, which is what this is for.
            process.destroyForcibly();
        }
        awaitEnd();
    }

    private void awaitEnd() {
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The process: bytes of memory as its argument; the handle on standard output, then answers to what comes on standard input. */
    @SuppressWarnings("restricted")
    public static void main(String[] arguments) throws IOException, DeviceFault {
        String library = System.getProperty(LIBRARY);
        if (library != null) {
            System.load(library);
        }
        CudaDriver.load();
        CUdevice device = new CUdevice();
        must(JCudaDriver.cuDeviceGet(device, 0));
        must(JCudaDriver.cuCtxCreate(new CUcontext(), 0, device));
        Addresses.Device memory = new Addresses.Device();
        long bytes = Long.parseLong(arguments[0]);
        must(JCudaDriver.cuMemAlloc(memory, bytes));
        must(JCudaDriver.cuMemsetD8(memory, (byte) 0, bytes));
        CUipcMemHandle handle = new CUipcMemHandle();
        must(JCudaDriver.cuIpcGetMemHandle(handle, memory));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        DataInputStream in = new DataInputStream(System.in);
        out.write(IpcHandles.bytes(handle).toArray());
        out.flush();
        // Ends when the other side closes.
        for (int what = in.read(); what >= 0; what = in.read()) {
            answer(what, memory, in, out);
            out.flush();
        }
    }

    private static void answer(int what, Addresses.Device memory, DataInputStream in, DataOutputStream out) throws IOException {
        long offset = in.readLong();
        byte[] content = new byte[in.readInt()];
        if (what == WRITE) {
            in.readFully(content);
            must(JCudaDriver.cuMemcpyHtoD(memory.withByteOffset(offset), Pointer.to(content), content.length));
            // The blocking copy of a small piece may return before the device has it.
            must(JCudaDriver.cuCtxSynchronize());
            out.writeByte(WRITE);
        } else {
            must(JCudaDriver.cuMemcpyDtoH(Pointer.to(content), memory.withByteOffset(offset), content.length));
            out.write(content);
        }
    }

    private static void must(int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException("the engine: " + CUresult.stringFor(code));
        }
    }
}
