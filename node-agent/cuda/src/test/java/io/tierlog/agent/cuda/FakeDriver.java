/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * The fake driver of {@code src/test/c}, compiled once per JVM and loaded into it, and the handles that steer it.
 *
 * <p>It is loaded by path before JCuda asks for {@code libcuda.so.1}: the dynamic linker takes what is loaded under that name already, so no
 * environment has to be set for the JVM of the tests.
 */
@SuppressWarnings("restricted")
public final class FakeDriver {
    /** Kinds of objects, as the driver counts them. */
    enum Kind {
        CONTEXT(0),
        STREAM(1),
        EVENT(2),
        MEMORY(3),
        PINNED(4),
        IPC(5),
        MODULE(6);

        private final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    /** From the directory of this module, and of its neighbours, whose tests use the driver too. */
    private static final Path SOURCES = Path.of("..", "cuda", "src", "test", "c");

    private static final long COMPILE_SECONDS = 120;
    private static final int TEXT_BYTES = 4 << 20;

    private final Path library;
    private final SymbolLookup symbols;

    private FakeDriver(Path library) {
        this.library = library;
        this.symbols = SymbolLookup.libraryLookup(library, Arena.global());
    }

    private static final class Holder {
        static final FakeDriver INSTANCE = new FakeDriver(compile());
    }

    /** The driver, loaded; aborts the test, with a message, when this machine has no C compiler. */
    public static FakeDriver load() {
        String system = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (!system.equals("Linux amd64")) {
            throw notRun("CUDA runs on Linux on x86-64 here, and this is " + system);
        }
        if (compiler().isEmpty()) {
            throw notRun("there is no C compiler (cc) on the PATH to make the fake CUDA driver with. Install gcc or clang");
        }
        return Holder.INSTANCE;
    }

    private static TestAbortedException notRun(String why) {
        String message = "NOT RUN: the CUDA path is NOT TESTED on this machine: " + why;
        System.err.println(message);
        return new TestAbortedException(message);
    }

    /** Where the library is, for other processes. */
    public Path library() {
        return library;
    }

    private static String compiler() {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
            Path cc = Path.of(directory, "cc");
            if (Files.isExecutable(cc)) {
                return cc.toString();
            }
        }
        return "";
    }

    private static Path compile() {
        try {
            Path directory = Files.createDirectories(Path.of("target", "fake-cuda").toAbsolutePath());
            Path library = directory.resolve("libcuda.so.1");
            List<String> command = new ArrayList<>(List.of(compiler(), "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC",
                    "-shared", "-Wl,-soname,libcuda.so.1", "-Wl,-Bsymbolic", "-o", library.toString()));
            try (var files = Files.list(SOURCES)) {
                files.map(Path::toString).filter(file -> file.endsWith(".c")).sorted().forEach(command::add);
            }
            command.add("-lpthread");
            Path log = directory.resolve("cc.log");
            Process cc = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
            if (!cc.waitFor(COMPILE_SECONDS, TimeUnit.SECONDS) || cc.exitValue() != 0) {
                throw new AssertionError("the fake driver does not compile:\n" + Files.readString(log));
            }
            return library;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while compiling", e);
        }
    }

    /** Ends every context and forgets everything. */
    public void reset() {
        call("fake_reset", null);
    }

    /** The {@code nth} call of {@code name} from now on answers {@code code} and has no effect. */
    void failAt(String name, long nth, int code) {
        failAt(name, nth, code, 0);
    }

    /** The {@code nth} call of {@code name} from now on does what it shall and answers {@code code} all the same. */
    void failAfter(String name, long nth, int code) {
        failAt(name, nth, code, 1);
    }

    private void failAt(String name, long nth, int code, int after) {
        try (Arena arena = Arena.ofConfined()) {
            call("fake_fail_at", null, arena.allocateFrom(name), nth, code, after);
        }
    }

    /** True while an injected failure has not happened. */
    boolean failsLater() {
        return (int) call("fake_fails_later", ValueLayout.JAVA_INT) != 0;
    }

    /** The {@code nth} copy or kernel that runs from now on fails and breaks its context. */
    public void failOperation(long nth, int code) {
        call("fake_fail_op", null, nth, code);
    }

    /** Lets so many copies and kernels run, then none; -1 for all. */
    void pass(long operations) {
        call("fake_pass", null, operations);
    }

    /** Makes waits and looks lie: what code without a wait would see. */
    void ignoreWaits(boolean on) {
        call("fake_ignore_waits", null, on ? 1 : 0);
    }

    /** Operations that are queued and have not run. */
    long pending() {
        return (long) call("fake_pending", ValueLayout.JAVA_LONG);
    }

    /** Objects of a kind that are alive. */
    int alive(Kind kind) {
        return (int) call("fake_alive", ValueLayout.JAVA_INT, kind.number);
    }

    /** How often a call has been made since the last reset. */
    long count(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) call("fake_count", ValueLayout.JAVA_LONG, arena.allocateFrom(name));
        }
    }

    /** The calls since the last reset, in order, with their arguments. */
    List<String> book() {
        return text("fake_book");
    }

    /** The calls of one name. */
    List<String> book(String name) {
        return book().stream().filter(line -> line.startsWith(name + " ")).toList();
    }

    /** What a real driver might have forgiven. */
    public List<String> violations() {
        return text("fake_violations");
    }

    private List<String> text(String function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(TEXT_BYTES);
            long length = (long) call(function, ValueLayout.JAVA_LONG, out, (long) TEXT_BYTES);
            return new String(out.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8).lines().toList();
        }
    }

    /** Calls a function of the library; with no {@code result} it is one that returns nothing, and so does this: an empty string. */
    private Object call(String function, @Nullable MemoryLayout result, Object... arguments) {
        MemoryLayout[] types = new MemoryLayout[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            types[i] = switch (arguments[i]) {
                case MemorySegment _ -> ValueLayout.ADDRESS;
                case Long _ -> ValueLayout.JAVA_LONG;
                default -> ValueLayout.JAVA_INT;
            };
        }
        FunctionDescriptor descriptor = result == null ? FunctionDescriptor.ofVoid(types) : FunctionDescriptor.of(result, types);
        MethodHandle handle = Linker.nativeLinker().downcallHandle(symbols.find(function).orElseThrow(), descriptor);
        try {
            Object answer = handle.invokeWithArguments(arguments);
            return answer == null ? "" : answer;
        } catch (Throwable e) {
            throw new AssertionError("calling " + function, e);
        }
    }
}
