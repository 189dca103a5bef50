/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.engine.Progress;
import io.tierlog.ops.engine.ProgressListener;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The controller of a demo in one process: started first, and stopped for a part of the requests with --controller-away.
 *
 * <p>Progress may come late and from another thread than {@link #back}, closing from any; the controller itself is stopped and started on a
 * thread of its own, so that the run does not stand still meanwhile.
 */
final class DemoController implements ProgressListener, AutoCloseable {
    private static final Duration START = Duration.ofSeconds(30);

    private final ControllerConfig config;
    private final Optional<Away> away;
    private final PrintStream notes;
    private final ExecutorService hand = Executors.newSingleThreadExecutor(Thread.ofPlatform().name("demo-controller").factory());
    private @Nullable ControllerApp controller;
    private @Nullable Future<?> left;
    private @Nullable Future<?> returned;
    private boolean over;

    /**
     * The part of a run that goes on without a controller.
     *
     * @param from it leaves once this many requests have ended, 1 or more
     * @param to it comes back once this many have, more than {@code from}; it also comes back at the end of the run
     */
    record Away(int from, int to) {
        private static final Pattern SPAN = Pattern.compile("(\\d{1,9})-(\\d{1,9})");

        /**
         * Parses {@code FROM-TO}.
         *
         * @throws IllegalArgumentException when the text is not such a span
         */
        static Away parse(String text) {
            Matcher m = SPAN.matcher(text);
            if (!m.matches() || Integer.parseInt(m.group(1)) < 1 || Integer.parseInt(m.group(1)) >= Integer.parseInt(m.group(2))) {
                throw new IllegalArgumentException("'" + text + "' is not a span of requests: give FROM-TO, for example 200-400");
            }
            return new Away(Integer.parseInt(m.group(1)), Integer.parseInt(m.group(2)));
        }
    }

    private DemoController(ControllerConfig config, Optional<Away> away, PrintStream notes) {
        this.config = config;
        this.away = away;
        this.notes = notes;
    }

    /** Starts the controller and waits until it decides. */
    static DemoController start(ControllerConfig config, Optional<Away> away, PrintStream notes) throws InterruptedException {
        DemoController demo = new DemoController(config, away, notes);
        try {
            demo.enter();
            return demo;
        } catch (RuntimeException | InterruptedException e) {
            demo.close();
            throw e;
        }
    }

    @Override
    public synchronized void progress(Progress progress) {
        if (away.isEmpty() || over) {
            return;
        }
        if (left == null && progress.requestsDone() >= away.get().from()) {
            left = hand.submit(() -> leave(progress.requestsDone()));
        } else if (left != null && returned == null && progress.requestsDone() >= away.get().to()) {
            returned = hand.submit(this::comeBack);
        }
    }

    /** Returns when the controller is there again; at once when it never left. */
    void back() throws InterruptedException {
        Future<?> leaving;
        Future<?> coming;
        synchronized (this) {
            over = true;
            if (left != null && returned == null) {
                returned = hand.submit(this::comeBack);
            }
            leaving = left;
            coming = returned;
        }
        try {
            if (leaving != null && coming != null) {
                leaving.get();
                coming.get();
            }
        } catch (ExecutionException e) {
            throw new CliError("the controller did not come back: " + e.getCause(), "run again with --verbose", CliError.FAILURE, e);
        }
    }

    /** Ends the clocks and waits until every event is decided; false when it is not within {@code limit}. For a controller that is there. */
    boolean bringToRest(Duration limit) throws InterruptedException {
        ControllerApp there;
        synchronized (this) {
            there = controller;
        }
        return there != null && there.bringToRest(limit);
    }

    private void leave(int requestsDone) {
        close(controller);
        notes.println("The controller was stopped after " + requestsDone + " requests: nothing is fetched, requests go on after the prefetch wait.");
    }

    private Void comeBack() throws InterruptedException {
        enter();
        notes.println("The controller runs again.");
        return null;
    }

    private void enter() throws InterruptedException {
        ControllerApp entering = ControllerApp.start(config);
        synchronized (this) {
            controller = entering;
        }
        if (!entering.awaitRunning(START)) {
            throw new CliError(
                    "the controller is " + entering.state() + " after " + START.toSeconds() + " s", "run again with --verbose", CliError.FAILURE);
        }
    }

    private static void close(@Nullable ControllerApp app) {
        if (app != null) {
            app.close();
        }
    }

    @Override
    public void close() {
        // Whatever was begun is finished first; a controller closes only once.
        hand.close();
        synchronized (this) {
            close(controller);
        }
    }
}
