/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RequestReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The engine of a random walk: it keeps its side of the engine API's contract, and writes to a page as soon as it may. */
final class WalkingEngine {
    private static final int TOKENS = 2;
    private static final int PAGES = 24;

    /** One attempt as the engine sees it. */
    private static final class Run {
        final Attempt id;
        final Prompt prompt;
        final long call;
        /** Pages of the blocks, by index. */
        final Map<Integer, Integer> pages = new LinkedHashMap<>();
        long load;
        int toLoad;
        int have;
        boolean answered;
        boolean prefilled;

        Run(Attempt id, Prompt prompt, long call) {
            this.id = id;
            this.prompt = prompt;
            this.call = call;
        }
    }

    /** A load of reserved blocks, or a read. */
    private record Outside(Prompt prompt, List<DeviceBlock> blocks) {}

    private final World world;
    private final Random random;
    private final Deque<Integer> free = new ArrayDeque<>();
    private final long[] generations = new long[PAGES];
    private final SequencedMap<Attempt, Run> runs = new LinkedHashMap<>();
    /** Pages of ended attempts that the agent has not released. */
    private final Map<String, List<Integer>> held = new HashMap<>();
    /** Loads outside of requests that are not answered: their pages are kept meanwhile. */
    private final SequencedMap<Long, Outside> outside = new LinkedHashMap<>();
    /** Saves that are not answered: how many blocks each has. */
    private final SequencedMap<Long, Integer> saves = new LinkedHashMap<>();
    private final List<String> leases = new ArrayList<>();
    private String session = "";
    private int sessions;
    private boolean pool;
    private int requests;
    private int noticesRead;

    WalkingEngine(World world, Random random) {
        this.world = world;
        this.random = random;
    }

    static int pages() {
        return PAGES;
    }

    void connect() {
        if (session.isEmpty()) {
            session = "s" + ++sessions;
            world.on(new AgentInput.SessionOpened(world.call(), session, "engine"));
        }
        if (!pool) {
            long call = world.call();
            world.on(new AgentInput.BuffersRegistered(call, session, PAGES, FakePorts.BLOCK_BYTES, World.DIGEST, Map.of()));
            pool = world.seen.replies.get(call) instanceof RecordedOutput.Done;
            if (pool) {
                free.clear();
                for (int page = 0; page < PAGES; page++) {
                    free.add(page);
                }
            }
        }
    }

    void vanish() {
        world.on(new AgentInput.SessionClosed(session, random.nextBoolean()));
        session = "";
        pool = false;
        runs.clear();
        held.clear();
        outside.clear();
        saves.clear();
        leases.clear();
    }

    void submit() {
        if (!pool || runs.size() >= 8) {
            return;
        }
        Prompt prompt = randomPrompt();
        boolean again = !runs.isEmpty() && random.nextInt(10) == 0;
        String request = again ? runs.firstEntry().getKey().request() : "r" + ++requests;
        int attempt = again ? runs.firstEntry().getKey().attempt() + 1 : 1;
        if (again && runs.firstEntry().getValue().load > 0) {
            loaded(runs.firstEntry().getValue());
        }
        Attempt id = new Attempt(session, request, attempt);
        long call = world.submit(id, prompt, 0, random.nextInt(10) > 0);
        if (!(world.seen.replies.get(call) instanceof RecordedOutput.Refused)) {
            if (again) {
                end(runs.pollFirstEntry().getValue()); // the agent has ended the attempt before
            }
            runs.put(id, new Run(id, prompt, call));
        }
    }

    /** Reserves what may be there, and loads it, gives it up, or forgets it; answers come and calls are cut meanwhile. */
    void reserve() {
        readNotices();
        if (!pool) {
            return;
        }
        answers();
        Prompt prompt = randomPrompt();
        if (prompt.keys().isEmpty()) {
            return;
        }
        int blocks = Math.min(1 + random.nextInt(prompt.keys().size()), free.size());
        long call = blocks == 0 ? 0 : world.reserve(session, prompt, 0, blocks, 1 + random.nextInt(400));
        if (world.seen.replies.get(call) instanceof RecordedOutput.Reserved reserved) {
            leases.add(reserved.lease());
            switch (random.nextInt(4)) {
                case 0 -> world.gone(call); // its answer was on its way: a later call with it is refused as unknown
                case 1 -> world.on(new AgentInput.LeaseReleased(world.call(), session, leases.get(random.nextInt(leases.size()))));
                case 2 -> loadOutside(reserved.lease(), prompt, blocks);
                default -> {}
            }
        }
    }

    private void loadOutside(String lease, Prompt prompt, int blocks) {
        List<DeviceBlock> load = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            int page = free.remove();
            assertFalse(world.ports.deviceBusy(page), "a page that was given back is still moved to or from: " + page);
            load.add(new DeviceBlock(i, prompt.keys().get(i), page, ++generations[page]));
        }
        long call = world.call();
        outside.put(call, new Outside(prompt, load));
        world.on(new AgentInput.LoadCalled(call, new Attempt(session, "", 0), "m", lease, load));
        if (random.nextInt(3) == 0) { // though it may be answered, or refused
            cutOutside(call, load);
        }
        answers();
    }

    /** Reads some blocks of a prompt by name, in any order, into free pages or, by mistake, into one that is taken. */
    void read() {
        readNotices();
        if (!pool) {
            return;
        }
        answers();
        Prompt prompt = randomPrompt();
        List<DeviceBlock> blocks = new ArrayList<>();
        for (int i = prompt.keys().size() - 1; i >= 0; i--) {
            if (random.nextInt(3) > 0 && !free.isEmpty()) {
                int page = free.remove();
                assertFalse(world.ports.deviceBusy(page), "a page that was given back is still moved to or from: " + page);
                blocks.add(new DeviceBlock(i, prompt.keys().get(i), page, ++generations[page]));
            }
        }
        boolean wrong = blocks.isEmpty() || random.nextInt(10) == 0;
        List<DeviceBlock> asked = new ArrayList<>(blocks);
        if (wrong && !blocks.isEmpty()) {
            asked.add(blocks.getFirst());
        }
        long call = world.call();
        outside.put(call, new Outside(prompt, blocks));
        world.on(new AgentInput.ReadCalled(call, session, "m", asked, random.nextInt(4) == 0 ? -1 : random.nextInt(60)));
        if (wrong) {
            RecordedOutput.Refused refused = world.seen.reply(call, RecordedOutput.Refused.class);
            assertTrue(refused.refusal() == Refusal.BAD_ARGUMENT, refused::detail);
        }
        if (random.nextInt(3) == 0) { // though it may be answered, or refused
            cutOutside(call, blocks);
        }
        answers();
    }

    /** Wants blocks that a run has sealed on the host, or, by mistake, one that it has not sealed so. */
    void save() {
        readNotices();
        List<Run> able = runs.values().stream().filter(run -> run.prefilled && run.have < sealedTo(run)).toList();
        if (able.isEmpty()) {
            return;
        }
        Run run = able.get(random.nextInt(able.size()));
        int from = run.have + random.nextInt(sealedTo(run) - run.have);
        int to = from + 1 + random.nextInt(sealedTo(run) - from);
        long older = random.nextInt(10) == 0 ? 1 : 0;
        List<DeviceBlock> blocks = IntStream.range(from, to).mapToObj(i -> {
            int page = run.pages.getOrDefault(i, -1);
            return new DeviceBlock(i, run.prompt.keys().get(i), page, generations[page] - older);
        }).toList();
        long call = world.call();
        saves.put(call, blocks.size());
        world.on(new AgentInput.SaveCalled(call, run.id, "m", blocks));
        if (older > 0) {
            RecordedOutput.Refused refused = world.seen.reply(call, RecordedOutput.Refused.class);
            assertTrue(refused.refusal() == Refusal.BAD_ARGUMENT, refused::detail);
        }
        saved();
        if (!saves.isEmpty() && random.nextInt(4) == 0) {
            world.gone(saves.pollFirstEntry().getKey());
        }
    }

    /** Index behind the last block that the run has sealed. */
    private static int sealedTo(Run run) {
        int to = run.have;
        while (run.pages.containsKey(to)) {
            to++;
        }
        return to;
    }

    /** Answers to saves name each block, and done is done. */
    private void saved() {
        for (Map.Entry<Long, Integer> one : List.copyOf(saves.entrySet())) {
            RecordedOutput.Reply reply = world.seen.replies.get(one.getKey());
            if (reply instanceof RecordedOutput.Saved answer) {
                assertTrue(answer.blocks().size() == one.getValue(), () -> one + " is answered with " + answer);
                boolean agree = answer.blocks().stream().allMatch(block -> block.done() == (block.reason() == OperationReason.COMPLETED));
                assertTrue(agree, answer::toString);
            }
            if (reply != null) {
                saves.remove(one.getKey());
            }
        }
    }

    private void cutOutside(long call, List<DeviceBlock> blocks) {
        List<Integer> pages = blocks.stream().map(DeviceBlock::page).toList();
        hold("/0", pages);
        outside.remove(call);
        world.gone(call, new Attempt(session, "", 0), pages.toArray(Integer[]::new));
    }

    private void answers() {
        for (Map.Entry<Long, Outside> one : List.copyOf(outside.entrySet())) {
            RecordedOutput.Reply reply = world.seen.replies.get(one.getKey());
            Outside load = one.getValue();
            if (reply != null && random.nextInt(6) == 0) { // it was on its way when the call ended
                cutOutside(one.getKey(), load.blocks());
                continue;
            }
            List<DeviceBlock> arrived = switch (reply) {
                case RecordedOutput.Loaded loaded -> load.blocks().subList(0, loaded.blocks());
                case RecordedOutput.Read read ->
                    IntStream.range(0, load.blocks().size()).filter(i -> read.blocks().get(i).done()).mapToObj(load.blocks()::get).toList();
                case null, default -> List.of();
            };
            for (DeviceBlock block : arrived) {
                assertArrayEquals(FakePorts.content("m", block.key()), world.ports.device[block.page()], () -> "wrong content for " + load);
            }
            if (reply != null) {
                load.blocks().forEach(block -> free.add(block.page()));
                outside.remove(one.getKey());
            }
        }
    }

    /** The caller of the load of a run is gone: its pages come back by a notice, and the run continues without. */
    private void cut(Run run) {
        List<Integer> pages = new ArrayList<>();
        for (int i = 0; i < run.toLoad; i++) {
            Integer page = run.pages.remove(i);
            if (page != null) {
                pages.add(page);
            }
        }
        hold(run.id.request() + "/" + run.id.attempt(), pages);
        long call = run.load;
        run.load = 0;
        world.gone(call, run.id, pages.toArray(Integer[]::new));
    }

    private void hold(String owner, List<Integer> pages) {
        held.computeIfAbsent(owner, any -> new ArrayList<>()).addAll(pages);
    }

    private Prompt randomPrompt() {
        int[] tokens = new int[1 + random.nextInt(13)];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = i % (2 * TOKENS) == 0 ? random.nextInt(2) : 7;
        }
        return Prompt.of(TOKENS, tokens);
    }

    /** Takes a run one step on, whatever step is next. */
    void step() {
        readNotices();
        if (runs.isEmpty()) {
            return;
        }
        Run run = new ArrayList<>(runs.values()).get(random.nextInt(runs.size()));
        if (random.nextInt(25) == 0) {
            giveUp(run);
        } else if (!run.answered) {
            RecordedOutput.Reply reply = world.seen.replies.get(run.call);
            if (reply instanceof RecordedOutput.Offered offered) {
                use(run, offered.offer());
            }
        } else if (run.load > 0) {
            if (random.nextInt(12) == 0) { // its answer may be on its way
                cut(run);
            } else {
                loaded(run);
            }
        } else if (!run.prefilled) {
            compute(run);
        } else {
            finish(run);
        }
    }

    private void readNotices() {
        List<RecordedOutput.Notice> all = world.seen.notices;
        for (; noticesRead < all.size(); noticesRead++) {
            switch (all.get(noticesRead)) {
                case RecordedOutput.Ready ready -> {
                    Run run = runs.get(new Attempt(session, ready.request(), ready.attempt()));
                    if (run != null) {
                        assertFalse(run.answered, () -> "answered twice: " + ready);
                        use(run, ready.offer());
                    }
                }
                case RecordedOutput.Released released -> release(released);
                case RecordedOutput.Failed failed -> {}
            }
        }
    }

    private void release(RecordedOutput.Released released) {
        List<Integer> pages = held.get(released.request() + "/" + released.attempt());
        if (pages != null) {
            for (Integer page : released.pages()) {
                if (pages.remove(page)) {
                    free.add(page);
                }
            }
        }
    }

    private void use(Run run, Offer offer) {
        run.answered = true;
        int blocks = Math.min(offer.sources().size(), free.size());
        if (blocks == 0 || random.nextInt(8) == 0) {
            return;
        }
        List<DeviceBlock> load = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            load.add(take(run, i));
        }
        run.load = world.call();
        run.toLoad = blocks;
        world.on(new AgentInput.LoadCalled(run.load, run.id, run.prompt.namespace(), offer.lease(), load));
        if (world.seen.replies.get(run.load) instanceof RecordedOutput.Refused refused) {
            // its lease may have ended in the meantime, or the agent may be busy; anything else is a fault of this engine or of the core
            assertTrue(refused.refusal() != Refusal.BAD_ARGUMENT, refused::detail);
            if (random.nextInt(3) == 0) {
                cut(run);
            }
            run.load = 0;
        }
    }

    private DeviceBlock take(Run run, int index) {
        Integer page = run.pages.get(index);
        if (page == null) {
            page = free.remove();
            generations[page]++;
            run.pages.put(index, page);
        }
        assertFalse(world.ports.deviceBusy(page), "a page that was given back is still moved to or from: " + page);
        return new DeviceBlock(index, run.prompt.keys().get(index), page, generations[page]);
    }

    private void loaded(Run run) {
        if (world.seen.replies.get(run.load) instanceof RecordedOutput.Loaded loaded) {
            for (int i = 0; i < loaded.blocks(); i++) {
                int page = run.pages.getOrDefault(i, -1);
                assertArrayEquals(
                        FakePorts.content("m", run.prompt.keys().get(i)), world.ports.device[page], () -> "wrong content for " + run.prompt);
            }
            run.have = loaded.blocks();
            run.load = 0;
        }
    }

    private void compute(Run run) {
        int whole = run.prompt.keys().size();
        List<DeviceBlock> sealed = new ArrayList<>();
        int index = run.have;
        for (; index < whole && (run.pages.containsKey(index) || !free.isEmpty()); index++) {
            DeviceBlock block = take(run, index);
            world.ports.device[block.page()] = FakePorts.content("m", block.key());
            sealed.add(block);
        }
        run.prefilled = true;
        world.on(new AgentInput.Prefilled(world.call(), run.id, 0, run.have, whole - run.have));
        if (!sealed.isEmpty()) {
            Bytes parent = run.have == 0 ? Bytes.EMPTY : run.prompt.keys().get(run.have - 1);
            long call = world.call();
            world.on(new AgentInput.Sealed(call, run.id, "m", run.prompt.root(), parent, sealed));
            world.seen.reply(call, RecordedOutput.Done.class);
        }
    }

    private void finish(Run run) {
        runs.remove(run.id);
        int kind = random.nextInt(10);
        RequestReason reason = kind == 0 ? RequestReason.KV_BUDGET : kind == 1 ? RequestReason.PREEMPTED : RequestReason.COMPLETED;
        hold(run, run.load > 0 ? 0 : run.have);
        world.on(new AgentInput.Finished(world.call(), run.id, reason, 1));
    }

    private void giveUp(Run run) {
        runs.remove(run.id);
        if (run.load > 0) {
            loaded(run);
        }
        end(run);
        world.on(new AgentInput.Cancelled(world.call(), run.id));
        if (random.nextInt(4) == 0) {
            world.on(new AgentInput.Cancelled(world.call(), run.id)); // again: nothing
        }
    }

    /** The pages that a load, a save or a write-back may touch stay until they are released; the others are free. */
    private void end(Run run) {
        boolean touched = run.load > 0 || run.prefilled;
        hold(run, touched ? (run.load > 0 ? 0 : run.have) : Integer.MAX_VALUE);
    }

    private void hold(Run run, int from) {
        List<Integer> kept = new ArrayList<>();
        run.pages.forEach((index, page) -> {
            boolean loading = run.load > 0 && index < run.toLoad;
            boolean sealed = run.prefilled && index >= from;
            boolean reused = index < run.have;
            if (loading || sealed || reused) {
                kept.add(page);
            } else {
                free.add(page);
            }
        });
        hold(run.id.request() + "/" + run.id.attempt(), kept);
    }

    @Nullable Prompt promptOf(String request, int attempt) {
        Run run = runs.get(new Attempt(session, request, attempt));
        return run == null ? null : run.prompt;
    }

    /** Ends every run; pages come back by the agent's notices. */
    void endAll() {
        readNotices();
        for (Run run : List.copyOf(runs.values())) {
            giveUp(run);
        }
        answers();
        saved();
        saves.keySet().forEach(world::gone);
        saves.clear();
    }

    void assertAllReleased() {
        readNotices();
        assertTrue(held.values().stream().allMatch(List::isEmpty), () -> "never released: " + held);
    }
}
