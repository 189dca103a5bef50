/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * No changed input makes a decoder fail in a way that it does not say, wait without an end, or allocate beyond its bound. A few inputs each with a
 * fixed seed; {@code ops/soak fuzz} runs it for minutes, with {@code -Dtierlog.fuzz.minutes=N -Dtierlog.seed=S}, and
 * {@code -Dtierlog.fuzz.only=REGEX} chooses decoders by name. What is found is kept as a file whose name the message has.
 */
class DecodersTest {
    private static final int SHARE = 400;
    private static final long HANG_S = 20;
    private static final int MOST_FINDINGS = 3;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final AtomicReference<Thread> worker = new AtomicReference<>();
    private final ExecutorService decoding = Executors.newSingleThreadExecutor(work -> {
        Thread thread = Thread.ofPlatform().daemon().name("fuzz").unstarted(work);
        worker.set(thread);
        return thread;
    });

    @Test
    void noDecoderFailsHangsOrAllocatesBeyondItsBound() throws Exception {
        int minutes = Integer.getInteger("tierlog.fuzz.minutes", 0);
        long seed = Long.getLong("tierlog.seed", 24);
        Predicate<String> only = Pattern.compile(System.getProperty("tierlog.fuzz.only", "")).asPredicate();
        List<String> findings = new ArrayList<>();
        try (FuzzTargets targets = new FuzzTargets(directory)) {
            List<FuzzTarget> chosen = targets.all().stream().filter(target -> only.test(target.name())).toList();
            assertFalse(chosen.isEmpty(), "no decoder has a name as in tierlog.fuzz.only");
            long each = TimeUnit.MINUTES.toNanos(minutes) / Math.max(1, chosen.size());
            for (FuzzTarget target : chosen) {
                for (byte[] valid : target.corpus()) {
                    run(target, valid).ifPresent(why -> findings.add(target + ": its valid input: " + why));
                }
                Mutator mutator = new Mutator(new Random(seed));
                long until = System.nanoTime() + each;
                int inputs = 0;
                int most = findings.size() + MOST_FINDINGS;
                while (findings.size() < most && (inputs < SHARE || System.nanoTime() < until)) {
                    inputs++;
                    byte[] input = mutator.next(target);
                    Optional<String> why = run(target, input);
                    if (why.isPresent()) {
                        findings.add(target + ", seed " + seed + ", input " + inputs + " " + kept(target, input) + ": " + why.get());
                    }
                }
                System.out.printf("fuzz: %-24s %,9d inputs%n", target, inputs);
            }
        }
        assertEquals("", String.join("\n", findings));
    }

    /** The valid messages reach the code behind the parser: otherwise changed ones would show nothing. */
    @Test
    void everyMethodAnswersAValidMessage() throws Exception {
        try (FuzzTargets targets = new FuzzTargets(directory)) {
            for (FuzzTarget target : targets.calls().all()) {
                for (byte[] valid : target.corpus()) {
                    target.decoder().decode(valid);
                }
            }
            targets.calls().services().forEach((name, calls) -> assertEquals(calls.methods(), calls.answered(), name));
        }
    }

    @Test
    void whatADecoderDoesWrongIsFound() throws Exception {
        List<byte[]> corpus = List.of(new byte[] {1, 2, 3});
        FuzzTarget.Decoder fails = input -> {
            throw new IllegalStateException("as a decoder with a fault");
        };
        assertTrue(run(new FuzzTarget("fails", corpus, Set.of(), 1 << 20, fails), corpus.getFirst()).orElseThrow().contains("with a fault"));
        assertEquals(Optional.empty(), run(new FuzzTarget("says", corpus, Set.of(IllegalStateException.class), 1 << 20, fails), corpus.getFirst()));
        FuzzTarget.Decoder deep = input -> nested(input, 0);
        assertTrue(run(new FuzzTarget("deep", corpus, Set.of(), 1 << 20, deep), corpus.getFirst()).orElseThrow().contains("StackOverflow"));
        FuzzTarget.Decoder large = input -> assertEquals(8 << 20, new byte[8 << 20].length);
        assertTrue(run(new FuzzTarget("large", corpus, Set.of(), 1 << 20, large), corpus.getFirst()).orElseThrow().contains("it allocates"));
    }

    private static int nested(byte[] input, int depth) {
        return depth == Integer.MAX_VALUE ? depth : nested(input, depth + 1) + input.length;
    }

    /** What is wrong with how one input was decoded. */
    private Optional<String> run(FuzzTarget target, byte[] input) throws InterruptedException {
        byte[] given = input.clone();
        Future<Long> result = decoding.submit(() -> {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            try {
                target.decoder().decode(given);
            } catch (Exception e) {
                if (!target.mayThrow(e)) {
                    throw e;
                }
            }
            return THREADS.getCurrentThreadAllocatedBytes() - before;
        });
        try {
            long allocated = result.get(HANG_S, TimeUnit.SECONDS);
            long bound = target.allocation() + FuzzTarget.PER_BYTE * input.length;
            return allocated <= bound ? Optional.empty()
                    : Optional.of("it allocates " + allocated + " bytes, at most " + bound + " are right for " + input.length + " bytes");
        } catch (ExecutionException e) {
            StackTraceElement[] where = e.getCause().getStackTrace();
            return Optional.of(e.getCause() + " at " + Arrays.asList(where).subList(0, Math.min(6, where.length)));
        } catch (TimeoutException e) {
            // The thread cannot be ended, so nothing more can be tried.
            throw new AssertionError(target + " hangs with " + Arrays.toString(input) + " at " + Arrays.toString(worker.get().getStackTrace()), e);
        }
    }

    private static Path kept(FuzzTarget target, byte[] input) {
        try {
            Path findings = Files.createDirectories(Path.of(System.getProperty("tierlog.fuzz.findings", "target/fuzz")));
            return Files.write(Files.createTempFile(findings, target.name().replace(' ', '-') + "-", ".bin"), input).toAbsolutePath();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
