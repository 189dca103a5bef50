/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import jcuda.nvptxcompiler.JNvPTXCompiler;
import jcuda.nvptxcompiler.nvPTXCompileResult;
import jcuda.nvptxcompiler.nvPTXCompilerHandle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernel's text through NVIDIA's own PTX compiler, which needs neither driver nor GPU. What it does is tested by {@link CudaGatherTest}. */
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "JCuda has the compiler for Linux on x86-64 only")
class GatherKernelTest {
    private static final int LOG_BYTES = 8_000;

    @BeforeAll
    static void load() throws IOException {
        Natives.load(() -> JNvPTXCompiler.setExceptionsEnabled(false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90"})
    void itCompilesFor(String architecture) {
        String log = compile(GatherKernel.ptx(), architecture);
        assertTrue(log.contains("'" + GatherKernel.ENTRY + "' for '" + architecture + "'"), log);
        assertTrue(log.contains("0 bytes spill stores, 0 bytes spill loads"), log);
    }

    @Test
    void textThatIsWrongDoesNotCompile() {
        String wrong = GatherKernel.ptx().replace("shl.b64         %rd4, %rd3, 4;", "shl.b64         %rd4, %r3, 4;");
        assertNotEquals(GatherKernel.ptx(), wrong);
        String log = compile(wrong, "sm_70");
        assertTrue(log.contains("Arguments mismatch"), log);
    }

    private static String compile(String ptx, String architecture) {
        byte[] text = ptx.getBytes(StandardCharsets.US_ASCII);
        nvPTXCompilerHandle compiler = new nvPTXCompilerHandle();
        int code = JNvPTXCompiler.nvPTXCompilerCreate(compiler, text.length + 1L, Arrays.copyOf(text, text.length + 1));
        assertEquals(nvPTXCompileResult.NVPTXCOMPILE_SUCCESS, code);
        String[] options = {"--gpu-name=" + architecture, "--verbose"};
        boolean compiled = JNvPTXCompiler.nvPTXCompilerCompile(compiler, options.length, options) == nvPTXCompileResult.NVPTXCOMPILE_SUCCESS;
        byte[] log = new byte[LOG_BYTES];
        if (compiled) {
            JNvPTXCompiler.nvPTXCompilerGetInfoLog(compiler, log);
        } else {
            JNvPTXCompiler.nvPTXCompilerGetErrorLog(compiler, log);
        }
        JNvPTXCompiler.nvPTXCompilerDestroy(compiler);
        return new String(log, StandardCharsets.US_ASCII).trim();
    }
}
