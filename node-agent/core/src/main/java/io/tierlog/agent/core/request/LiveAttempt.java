/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerCopies;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a request from Submit until the agent has no pin for it.
 *
 * <pre>
 *   PROBING --> WAITING --> ANSWERED --> FINISHED --> GONE
 *      |  |        |           |                       ^
 *      |  +--------|-----------^                       |
 *      +-----------+-----------+-----------------------+
 * </pre>
 *
 * <p>For the core's one thread.
 */
public final class LiveAttempt {
    public enum State {
        /** The store is being probed; the Submit call is open. */
        PROBING,
        /** The engine waits for a Ready notice. */
        WAITING,
        /** The engine has received its offer. */
        ANSWERED,
        /** It has ended; its sealed device pages wait for a command. */
        FINISHED,
        /** Nothing is left of it. */
        GONE;

        boolean mayBecome(State next) {
            return switch (this) {
                case PROBING -> next == WAITING || next == ANSWERED || next == GONE;
                case WAITING -> next == ANSWERED || next == FINISHED || next == GONE;
                case ANSWERED -> next == FINISHED || next == GONE;
                case FINISHED -> next == GONE;
                case GONE -> false;
            };
        }
    }

    static final Offer NOTHING = Offer.none(0, Offer.Reason.NOTHING_BELOW);

    private final Submitted submitted;
    private final PageOwner owner;
    private final long submittedMs;
    private final int recorded;
    private final SortedMap<Integer, PagedBlock> sealed = new TreeMap<>();
    private final SortedMap<Integer, PagedBlock> reused = new TreeMap<>();
    private final SortedMap<Integer, PagedBlock> notTaken = new TreeMap<>();
    private List<PagedBlock> unreported = List.of();
    private Bytes root = Bytes.EMPTY;
    private final List<Integer> hostIndexes = new ArrayList<>();
    private final List<Integer> diskIndexes = new ArrayList<>();
    private final Map<Integer, Tier> fetched = new LinkedHashMap<>();
    private State state = State.PROBING;
    private boolean logged;
    private boolean prefilled;
    private int storeFrom;
    private int storeBlocks;
    private long probe;
    private OptionalInt storeAnswer = OptionalInt.empty();
    private long find;
    private @Nullable PeerCopies peer;
    private Offer offer = NOTHING;
    private @Nullable String lease;
    private @Nullable TransferSession fetch;
    private @Nullable TransferSession load;

    /** With at most {@code keysPerRecord} of its keys in its record. */
    LiveAttempt(Submitted submitted, int keysPerRecord, long nowMs) {
        this.submitted = submitted;
        this.recorded = Math.min(submitted.keys().size(), keysPerRecord);
        this.submittedMs = nowMs;
        Attempt id = submitted.attempt();
        this.owner = new PageOwner(id.session(), id.request(), id.attempt());
        this.storeFrom = submitted.deviceBlocks();
    }

    public Attempt id() {
        return submitted.attempt();
    }

    Submitted submitted() {
        return submitted;
    }

    public String namespace() {
        return submitted.namespace();
    }

    public List<Bytes> keys() {
        return submitted.keys();
    }

    public PageOwner owner() {
        return owner;
    }

    long submittedMs() {
        return submittedMs;
    }

    /** Most blocks it may reuse, of those that it has taken: the last token is always computed. */
    public int reusable() {
        return submitted.reuseEligible() ? Math.min(keys().size(), (submitted.promptTokens() - 1) / submitted.blockTokens()) : 0;
    }

    /** Keys that its record names: what comes after them is on no colder tier for the controller. */
    int recorded() {
        return recorded;
    }

    /** Most blocks that it may reuse and the controller may fetch for it. */
    int fetchable() {
        return Math.min(reusable(), recorded);
    }

    public State state() {
        return state;
    }

    void become(State next) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException(id() + " is " + state + " and may not become " + next);
        }
        state = next;
    }

    public boolean live() {
        return state != State.FINISHED && state != State.GONE;
    }

    boolean waiting() {
        return state == State.WAITING;
    }

    /** True once the log has an event of it in this incarnation of the agent; before, the agent reports nothing of it. */
    public boolean logged() {
        return logged;
    }

    void setLogged(boolean now) {
        logged = now;
    }

    public boolean prefilled() {
        return prefilled;
    }

    public void setPrefilled() {
        prefilled = true;
    }

    // --- what is on the host for it

    String hostPin() {
        return "request/" + submitted.attempt().request() + "/" + submitted.attempt().attempt();
    }

    public String finishPin() {
        return finishPin(owner);
    }

    /** Name of the pins on the pages of an attempt that has ended in good order. */
    static String finishPin(PageOwner owner) {
        return "finish/" + owner.request() + "/" + owner.attempt();
    }

    List<Integer> hostIndexes() {
        return hostIndexes;
    }

    /** Further blocks of the prompt that serve on the disk; ascending. */
    List<Integer> diskIndexes() {
        return diskIndexes;
    }

    /** True when the disk has a block that continues what the host holds. */
    boolean diskContinues() {
        return !diskIndexes.isEmpty() && diskIndexes.getFirst() < storeFrom;
    }

    /** A fetch for it has brought the block from {@code tier}. */
    public void fetched(int index, Tier tier) {
        fetched.put(index, tier);
    }

    /** The first block that neither the host nor the disk holds: the store is probed from there on. */
    int storeFrom() {
        return storeFrom;
    }

    void storeFrom(int index) {
        storeFrom = index;
    }

    /** Tokens to be computed now that need not be if a fetch brought all that is below: {@code stored} blocks from {@link #storeFrom} on. */
    long tokensToFetch(int stored) {
        int end = Math.min(storeFrom + stored, reusable());
        while (end < reusable() && (isIn(hostIndexes, end) || isIn(diskIndexes, end))) {
            end++;
        }
        int here = submitted.deviceBlocks();
        while (here < end && isIn(hostIndexes, here)) {
            here++;
        }
        return (long) Math.max(0, end - here) * submitted.blockTokens();
    }

    private static boolean isIn(List<Integer> ascending, int index) {
        return Collections.binarySearch(ascending, index) >= 0;
    }

    /** The unit that probes the store; 0 when there is none. */
    long probe() {
        return probe;
    }

    void probe(long unit) {
        probe = unit;
    }

    /** What the store has answered: how many blocks it has from {@link #storeFrom} on; empty before. */
    OptionalInt storeAnswer() {
        return storeAnswer;
    }

    void storeAnswered(int present) {
        storeAnswer = OptionalInt.of(present);
    }

    /** The unit that looks for other nodes with the blocks; 0 when there is none. */
    long find() {
        return find;
    }

    void find(long unit) {
        find = unit;
    }

    /** The other node that was chosen; null when there is none. */
    @Nullable PeerCopies peer() {
        return peer;
    }

    void peer(PeerCopies chosen) {
        peer = chosen;
    }

    void storeBlocks(int present) {
        storeBlocks = present;
    }

    /**
     * The tier a block came from: what its fetch has brought it from, else the one it was on when the request came; HOST also for one that was
     * nowhere then and serves there now.
     */
    Tier sourceOf(int index) {
        Tier brought = fetched.get(index);
        if (brought != null) {
            return brought;
        }
        if (isIn(hostIndexes, index)) {
            return Tier.HOST;
        }
        if (isIn(diskIndexes, index)) {
            return Tier.DISK;
        }
        return index >= storeFrom && index < storeFrom + storeBlocks ? Tier.STORE : Tier.HOST;
    }

    public Offer offer() {
        return offer;
    }

    public void offer(Offer current) {
        offer = current;
    }

    @Nullable String lease() {
        return lease;
    }

    public void leased(@Nullable String under) {
        lease = under;
    }

    public @Nullable TransferSession fetch() {
        return fetch;
    }

    public void fetch(@Nullable TransferSession current) {
        fetch = current;
    }

    /** True when the engine waits for this fetch. */
    public boolean awaits(TransferSession session) {
        return waiting() && fetch == session;
    }

    public @Nullable TransferSession load() {
        return load;
    }

    public void load(@Nullable TransferSession current) {
        load = current;
    }

    // --- what it has sealed on the device

    public SortedMap<Integer, PagedBlock> sealed() {
        return sealed;
    }

    /** Key of block 0 of the prompt, from the engine's Sealed call; empty before. */
    public Bytes root() {
        return root;
    }

    public void root(Bytes key) {
        root = key;
    }

    /** Blocks that it reuses, in device pages that the engine keeps for it: those that the Submit call named, and loaded ones. */
    public SortedMap<Integer, PagedBlock> reused() {
        return reused;
    }

    /** Blocks after those that an attempt takes, in device pages that the engine keeps for it: they come free at its end. */
    public SortedMap<Integer, PagedBlock> notTaken() {
        return notTaken;
    }

    /** Those blocks of the Submit call that no engine has reported before; the log gets them with the attempt. */
    List<PagedBlock> unreported() {
        return unreported;
    }

    void unreported(List<PagedBlock> blocks) {
        unreported = blocks;
    }

    /** Whether the engine keeps this block in this page for the attempt, which has sealed or reused it. */
    public boolean keeps(PagedBlock block) {
        return isIn(sealed, block) || isIn(reused, block);
    }

    private static boolean isIn(SortedMap<Integer, PagedBlock> blocks, PagedBlock block) {
        PagedBlock known = blocks.get(block.block().index());
        return known != null && known.page() == block.page() && known.block().key().equals(block.block().key());
    }
}
