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
public final class Engine implements AutoCloseable {
    private static final String LIBRARY = "tierlog.engine.libcuda";
    private static final long END_SECONDS = 20;
    private static final byte ALLOCATE = 'A';
    private static final byte WRITE = 'W';
    private static final byte READ = 'R';

    private final Process process;
    private final DataOutputStream to;
    private final DataInputStream from;
    private int allocations;

    /** Device memory of the engine, zero at first. */
    public record Memory(Engine engine, int number, long bytes, MemoryHandle handle) {
        public void write(long offset, byte[] content) {
            engine.ask(WRITE, number, offset, content.length, content);
        }

        public byte[] read(long offset, int length) {
            return engine.ask(READ, number, offset, length, new byte[0]);
        }
    }

    /** Starts an engine. */
    public Engine(Gpu gpu) {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java", "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
        gpu.library().ifPresent(path -> command.add("-D" + LIBRARY + "=" + path));
        command.add(Engine.class.getName());
        try {
            this.process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            this.to = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
            this.from = new DataInputStream(process.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Memory allocate(long bytes) {
        byte[] handle = ask(ALLOCATE, 0, bytes, MemoryHandle.CudaIpc.BYTES, new byte[0]);
        return new Memory(this, allocations++, bytes, new MemoryHandle.CudaIpc(Bytes.copyOf(handle)));
    }

    /** One question: what, of which memory, where, how long the content is, and the content of a write; the answer to a write is empty. */
    private byte[] ask(byte what, int number, long offset, int length, byte[] content) {
        try {
            to.writeByte(what);
            to.writeInt(number);
            to.writeLong(offset);
            to.writeInt(length);
            to.write(content);
            to.flush();
            return from.readNBytes(from.readInt());
        } catch (IOException e) {
            throw new UncheckedIOException("the engine has gone", e);
        }
    }

    /** Ends the process as a crash does. */
    public void kill() {
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

    /** The process: questions on standard input, answers on standard output; ends when the other side closes. */
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
        List<Addresses.Device> memory = new ArrayList<>();
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        DataInputStream in = new DataInputStream(System.in);
        for (int what = in.read(); what >= 0; what = in.read()) {
            int number = in.readInt();
            long offset = in.readLong();
            byte[] content = new byte[in.readInt()];
            byte[] answer = switch (what) {
                case ALLOCATE -> allocate(memory, offset);
                case WRITE -> {
                    in.readFully(content);
                    must(JCudaDriver.cuMemcpyHtoD(memory.get(number).withByteOffset(offset), Pointer.to(content), content.length));
                    // The blocking copy of a small piece may return before the device has it.
                    must(JCudaDriver.cuCtxSynchronize());
                    yield new byte[0];
                }
                default -> {
                    must(JCudaDriver.cuMemcpyDtoH(Pointer.to(content), memory.get(number).withByteOffset(offset), content.length));
                    yield content;
                }
            };
            out.writeInt(answer.length);
            out.write(answer);
            out.flush();
        }
    }

    private static byte[] allocate(List<Addresses.Device> all, long bytes) {
        Addresses.Device memory = new Addresses.Device();
        must(JCudaDriver.cuMemAlloc(memory, bytes));
        must(JCudaDriver.cuMemsetD8(memory, (byte) 0, bytes));
        must(JCudaDriver.cuCtxSynchronize());
        CUipcMemHandle handle = new CUipcMemHandle();
        must(JCudaDriver.cuIpcGetMemHandle(handle, memory));
        all.add(memory);
        return IpcHandles.bytes(handle).toArray();
    }

    private static void must(int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException("the engine: " + CUresult.stringFor(code));
        }
    }
}
