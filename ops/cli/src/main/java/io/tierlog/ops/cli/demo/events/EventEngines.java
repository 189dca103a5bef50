/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo.events;

import io.tierlog.agent.bridge.BridgeApp;
import io.tierlog.agent.bridge.BridgeConfig;
import io.tierlog.agent.bridge.BridgeOptions;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.ops.engine.Progress;
import io.tierlog.ops.engine.ProgressListener;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.zeromq.ZContext;

/**
 * Three engines that publish events, a real bridge that listens to them, and a router: the prompts of the first tenant, in the pace of the run,
 * each to the engine that has most of it by the directory. At a third of the run the first engine starts again, with a replay; at two thirds
 * the second one, without.
 *
 * <p>One thread serves; any thread may report progress.
 */
public final class EventEngines implements ProgressListener, AutoCloseable {
    private static final int SUBSCRIBED_MS = 30_000;
    private static final long SETTLE_NANOS = 20_000_000_000L;
    private static final long PAUSE_NANOS = 5_000_000;
    /** Prompts that are compared at the end, the latest ones. */
    private static final int COMPARED = 200;
    /** Requests that an engine that starts again serves before its subscriber is there. */
    private static final int UNSEEN = 3;

    private final ZContext context = new ZContext();
    private final List<EventEngine> engines = new ArrayList<>();
    private final List<List<BlockKey>> prompts;
    private final PrintStream screen;
    private final PromptRouter router;
    private final BridgeApp bridge;
    private final FutureTask<RouterView> task = new FutureTask<>(this::serve);
    private final List<PromptSeen> looks = new ArrayList<>();
    private int done;
    private long followed;
    private volatile double share;
    private volatile boolean over;
    private volatile boolean closed;

    /**
     * Where they are seen.
     *
     * @param bootstrapServers of the log
     * @param directoryPort of the directory's gRPC, on this machine
     * @param namespace of the first tenant's blocks
     * @param screen gets what the router sees
     */
    public record Place(String bootstrapServers, int directoryPort, String namespace, PrintStream screen) {}

    private EventEngines(Workload workload, Place place) {
        screen = place.screen();
        prompts = prompts(workload);
        int longest = prompts.stream().mapToInt(List::size).max().orElse(1);
        for (EventForm form : EventForm.values()) {
            engines.add(new EventEngine(context, form, 4 * longest, workload.blockTokens()));
        }
        router = new PromptRouter(place.directoryPort(), place.namespace());
        try {
            bridge = BridgeApp.start(BridgeConfig.of(OptionValues.parse(BridgeOptions.options(), Map.of(
                    LogOptions.BOOTSTRAP_SERVERS, place.bootstrapServers(),
                    BridgeOptions.SOURCE, engines.stream().map(engine -> engine.source(place.namespace())).toList()))));
        } catch (RuntimeException | Error e) {
            router.close();
            context.close();
            throw e;
        }
        Thread.ofPlatform().name("demo-event-engines").start(task);
    }

    /** Starts them. */
    public static EventEngines start(Workload workload, Place place) {
        return new EventEngines(workload, place);
    }

    private static List<List<BlockKey>> prompts(Workload workload) {
        List<List<BlockKey>> prompts = new ArrayList<>();
        for (int i = 0; i < workload.size(); i++) {
            Request request = workload.request(i);
            if (request.tenant() == 0 && !request.wholeKeys().isEmpty()) {
                prompts.add(request.wholeKeys());
            }
        }
        return prompts;
    }

    @Override
    public void progress(Progress progress) {
        share = (double) progress.requestsDone() / Math.max(1, progress.requestsTotal());
    }

    private RouterView serve() {
        for (EventEngine engine : engines) {
            if (!engine.awaitSubscriber(SUBSCRIBED_MS)) {
                throw new IllegalStateException("the bridge of the demo does not listen to " + engine.node());
            }
        }
        int size = prompts.size();
        while (done < size && !closed) {
            engines.forEach(EventEngine::answer);
            if (!over && done >= share * size) {
                LockSupport.parkNanos(PAUSE_NANOS);
                continue;
            }
            List<BlockKey> prompt = prompts.get(done);
            route(prompt).serve(prompt);
            done++;
            if (done == size / 6 || done == size / 2) {
                look("after " + done + " of " + size + " prompts", longest(prompts.subList(Math.max(0, done - 20), done)));
            } else if (done == size / 3) {
                startAgain(engines.get(0));
            } else if (done == size * 2 / 3) {
                startAgain(engines.get(1));
            }
        }
        return compare();
    }

    private static List<BlockKey> longest(List<List<BlockKey>> prompts) {
        return Collections.max(prompts, Comparator.comparingInt(List::size));
    }

    /** The engine with the longest prefix, of equals the one that has served least. */
    private EventEngine route(List<BlockKey> prompt) {
        PromptSeen seen = router.ask("", prompt);
        EventEngine best = Collections.max(engines,
                Comparator.<EventEngine>comparingInt(engine -> seen.of(engine.node())).thenComparing(engine -> -engine.served()));
        if (seen.of(best.node()) > 0) {
            followed++;
        }
        return best;
    }

    private void look(String when, List<BlockKey> prompt) {
        PromptSeen seen = router.ask(when, prompt);
        looks.add(seen);
        seen.lines().forEach(screen::println);
    }

    /** A new process whose first batches come before its subscriber: with a replay they are had, without one its blocks are UNKNOWN. */
    private void startAgain(EventEngine engine) {
        List<List<BlockKey>> before = prompts.subList(0, done);
        List<BlockKey> had = Collections.max(before, Comparator.comparingInt(engine::prefix));
        String name = engine.node() + " started again";
        look("before " + name, had);
        int unseen = Math.min(UNSEEN, prompts.size() - done);
        engine.restart(prompts.subList(done, done + unseen));
        done += unseen;
        if (!engine.awaitSubscriber(SUBSCRIBED_MS)) {
            throw new IllegalStateException("the bridge of the demo does not listen to " + engine.node() + " again");
        }
        boolean replays = engine.form().replays();
        List<BlockKey> latest = prompts.get(done - 1);
        long until = System.nanoTime() + SETTLE_NANOS;
        boolean settled = false;
        while (!settled && System.nanoTime() < until && !closed) {
            engine.answer();
            LockSupport.parkNanos(10 * PAUSE_NANOS);
            settled = replays
                    ? router.ask("", latest).of(engine.node()) == engine.prefix(latest)
                    : router.ask("", had).unknown();
        }
        look("after " + name + (replays ? " with a replay" : " without a replay"), had);
    }

    /** What the directory says in the end must be what the engines hold; blocks that are UNKNOWN may be missing, and none may be more. */
    private RouterView compare() {
        List<List<BlockKey>> last = prompts.subList(Math.max(0, prompts.size() - COMPARED), prompts.size());
        long until = System.nanoTime() + SETTLE_NANOS;
        int[] counts = counts(last);
        while (counts[0] > 0 && System.nanoTime() < until && !closed) {
            engines.forEach(EventEngine::answer);
            LockSupport.parkNanos(20 * PAUSE_NANOS);
            counts = counts(last);
        }
        if (!last.isEmpty()) {
            look("at the end", longest(last));
        }
        Map<String, Long> served = new LinkedHashMap<>();
        engines.forEach(engine -> served.put(engine.node(), engine.served()));
        return new RouterView(served, followed, List.copyOf(looks), last.size(), counts[0], counts[1]);
    }

    /** Prompts about which the directory is wrong, and of which a part is UNKNOWN. */
    private int[] counts(List<List<BlockKey>> asked) {
        int[] counts = new int[2];
        for (List<BlockKey> prompt : asked) {
            PromptSeen seen = router.ask("", prompt);
            boolean wrong = false;
            for (EventEngine engine : engines) {
                int truth = engine.prefix(prompt);
                int found = seen.of(engine.node());
                // Without a replay what was stored unseen is missing: UNKNOWN where no other engine has it.
                boolean known = engine.form().replays()
                        || (longest(seen, engine.form().keyBytes()) < truth && !seen.unknown(engine.form().keyBytes()));
                wrong |= found > truth || (found < truth && known);
            }
            counts[0] += wrong ? 1 : 0;
            counts[1] += seen.unknown() ? 1 : 0;
        }
        return counts;
    }

    /** The longest prefix of the engines with keys of that length. */
    private int longest(PromptSeen seen, int keyBytes) {
        return engines.stream().filter(engine -> engine.form().keyBytes() == keyBytes).mapToInt(engine -> seen.of(engine.node())).max().orElse(0);
    }

    /**
     * Serves what is left, and compares.
     *
     * @throws IllegalStateException when they have failed
     */
    public RouterView finish() throws InterruptedException {
        over = true;
        try {
            return task.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the engines that publish events have failed: " + e.getCause(), e);
        }
    }

    @Override
    public void close() {
        closed = true;
        over = true;
        try {
            task.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            // Reported by finish, or not asked for any more.
        }
        bridge.close();
        router.close();
        context.close();
    }
}
