/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.schemas.Bytes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUipcMemHandle;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * A process that allocates memory of the first GPU and exports it, as an engine does: IPC handles open in other processes only. For benchmarks on
 * a machine without an engine. For one thread. Trade-off: a JVM and a context of its own on the GPU.
 *
 * <p>A line with a number of bytes on its standard input is answered by a line: the handle in hexadecimal digits, or a message that names the
 * fault. It ends, and frees the memory, when the input does.
 */
public final class MemoryExporter implements AutoCloseable {
    private static final HexFormat HEX = HexFormat.of();
    private static final long END_SECONDS = 20;

    private final Process process;
    private final Writer to;
    private final BufferedReader from;

    private MemoryExporter(Process process) {
        this.process = process;
        this.to = process.outputWriter(StandardCharsets.UTF_8);
        this.from = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts the process, from the class path of this one.
     *
     * @throws DeviceFault NOT_INITIALIZED when it cannot be started
     */
    public static MemoryExporter start() throws DeviceFault {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED",
                MemoryExporter.class.getName());
        // In the environment, for a class path can be longer than an argument may be.
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        try {
            return new MemoryExporter(builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
        } catch (IOException e) {
            throw new DeviceFault(Kind.NOT_INITIALIZED, "the process that exports memory cannot be started: " + e);
        }
    }

    /**
     * Allocates memory, of no defined content; it is freed when this is closed.
     *
     * @param bytes 1 or more
     * @throws DeviceFault OUT_OF_MEMORY, with the text of the driver, when it cannot be allocated; DEVICE_LOST when the process has ended
     */
    public MemoryHandle export(long bytes) throws DeviceFault {
        try {
            to.write(bytes + "\n");
            to.flush();
            String answer = from.readLine();
            if (answer == null) {
                throw new DeviceFault(Kind.DEVICE_LOST, "the process that exports memory has ended; its standard error has the reason");
            }
            if (answer.length() != 2 * MemoryHandle.CudaIpc.BYTES) {
                throw new DeviceFault(Kind.OUT_OF_MEMORY, "no " + bytes + " bytes of the GPU can be exported: " + answer);
            }
            return new MemoryHandle.CudaIpc(Bytes.copyOf(HEX.parseHex(answer)));
        } catch (IOException e) {
            throw new DeviceFault(Kind.DEVICE_LOST, "the process that exports memory does not answer: " + e);
        }
    }

    /** Ends the process; its memory may not be used afterwards. */
    @Override
    public void close() {
        boolean ended = false;
        try {
            to.close();
            ended = process.waitFor(END_SECONDS, TimeUnit.SECONDS);
        } catch (IOException e) {
            // It has gone already.
            ended = !process.isAlive();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!ended) {
            process.destroyForcibly();
        }
    }

    /** The process. */
    public static void main(String[] arguments) throws IOException, DeviceFault {
        CudaDriver.load();
        CUdevice device = new CUdevice();
        int code = JCudaDriver.cuDeviceGet(device, 0);
        code = code == CUresult.CUDA_SUCCESS ? JCudaDriver.cuCtxCreate(new CUcontext(), 0, device) : code;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(code == CUresult.CUDA_SUCCESS ? allocate(Long.parseLong(line)) : "no context: " + CUresult.stringFor(code));
        }
    }

    private static String allocate(long bytes) {
        Addresses.Device memory = new Addresses.Device();
        CUipcMemHandle handle = new CUipcMemHandle();
        int code = JCudaDriver.cuMemAlloc(memory, bytes);
        code = code == CUresult.CUDA_SUCCESS ? JCudaDriver.cuIpcGetMemHandle(handle, memory) : code;
        return code == CUresult.CUDA_SUCCESS ? HEX.formatHex(IpcHandles.bytes(handle).toArray()) : CUresult.stringFor(code);
    }
}
