/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.index.KeyWords;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.probe.ProbeSink;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.directory.streams.ShardFanout;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.controller.http.Problem;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The queries of all APIs: what a caller may see, and what a block costs to get. Safe for use by several threads. A query grants no lease and
 * does not count as a use: it writes nothing.
 */
public final class LookupQueries {
    /** Most bytes of keys that a connection's thread may look up itself, while its other connections wait. */
    private static final int SHORT_BYTES = 1_024 * 32;

    private final Supplier<Optional<ShardFanout>> fanout;
    private final int most;
    private final Costs costs;
    private final Optional<ProbeSink> probes;
    private final boolean atOnce;

    /** The answer needs another instance, or a disk. Without a stack, since it is part of normal operation. */
    static final class NotAtOnce extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private NotAtOnce() {
            super("the answer is not here", null, false, false);
        }
    }

    /**
     * Queries that a fan-out answers once there is one.
     *
     * @param most keys of one call
     * @param probes gets the blocks to promote; empty refuses that
     */
    public LookupQueries(Supplier<Optional<ShardFanout>> fanout, int most, Costs costs, Optional<ProbeSink> probes) {
        this(fanout, most, costs, probes, false);
    }

    private LookupQueries(Supplier<Optional<ShardFanout>> fanout, int most, Costs costs, Optional<ProbeSink> probes, boolean atOnce) {
        this.fanout = fanout;
        this.most = most;
        this.costs = costs;
        this.probes = probes;
        this.atOnce = atOnce;
    }

    /**
     * Answers a query on a thread that must not wait.
     *
     * @param keyBytes bytes of its keys
     * @param how runs the query
     * @return empty when it is not short, or not all of it is in an index here
     */
    <R> Optional<R> atOnce(int keyBytes, Function<LookupQueries, R> how) {
        if (keyBytes > SHORT_BYTES) {
            return Optional.empty();
        }
        try {
            return Optional.of(how.apply(new LookupQueries(fanout, most, costs, probes, true)));
        } catch (NotAtOnce e) {
            return Optional.empty();
        }
    }

    /** What a block costs, by place. */
    Costs costs() {
        return costs;
    }

    /** Most keys of one call. */
    int most() {
        return most;
    }

    /** The lookup results for a caller's blocks, and how old they may be. */
    @SuppressWarnings("ArrayRecordComponent") // For one request, never compared.
    public record Existence(byte[] presences, Freshness freshness) {
        Presence first() {
            return Presence.of(presences[0]);
        }
    }

    /**
     * Packed keys, checked.
     *
     * @throws Problem INVALID_REQUEST when there is no key, a broken one, or too many
     */
    PackedKeys packed(byte[] bytes, int width) {
        if (!KeyWords.isLegal(width) || bytes.length == 0 || bytes.length % width != 0 || bytes.length / width > most) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "packed_keys has " + bytes.length + " bytes and key_bytes is " + width,
                    "give 1 to " + most + " keys of " + KeyWords.LEAST + " to " + KeyWords.MOST + " bytes, all of one length");
        }
        return new PackedKeys(bytes, width);
    }

    /**
     * Whether blocks serve anywhere; {@code prefetch} has those promoted that are only on a disk, and changes no answer.
     *
     * @param node with {@code prefetch}, where they are wanted: what is on that node's disk is promoted there, whatever others have in memory
     */
    public Existence exist(Caller caller, BlockChain chain, boolean prefetch, Optional<String> node) {
        if (prefetch && probes.isEmpty()) {
            throw new Problem(Problem.Kind.NOT_OFFERED, "this directory cannot request promotions", "leave prefetch_to_memory out");
        }
        if (!caller.scope().includes(chain.namespace())) {
            byte[] none = new byte[chain.keys().count()];
            Arrays.fill(none, Presence.NOT_FOUND.code());
            return new Existence(none, nothing());
        }
        KeyAnswers answers = ask(chain, false);
        if (prefetch) {
            PackedKeys keys = chain.keys();
            // Without tokens all callers look alike.
            String sharer = caller.equals(Caller.LOCAL) ? chain.namespace() : caller.name();
            ProbeSink.Probe probe = new ProbeSink.Probe(sharer, chain.namespace(), keys.bytes(), keys.width(), chain.firstIndex());
            probes.ifPresent(sink -> sink.probe(probe, node.stream().toList()));
        }
        return new Existence(answers.presences(), dated(answers.freshness()));
    }

    /** Where blocks are. */
    public ChainPlacements where(Caller caller, BlockChain chain) {
        if (!caller.scope().includes(chain.namespace())) {
            return ChainPlacements.none(chain, nothing());
        }
        KeyAnswers answers = ask(chain, true);
        return new ChainPlacements(chain, answers::found, dated(answers.freshness()));
    }

    /** How long a prefix is, and from where it costs least for {@code node}. */
    public Lookup lookup(Caller caller, BlockChain chain, Optional<String> node) {
        return Lookup.of(where(caller, chain), costs, node, name -> fanout.get().flatMap(each -> each.peerAddress(name)));
    }

    private KeyAnswers ask(BlockChain chain, boolean placements) {
        ShardFanout asked = fanout.get().orElseThrow(
                () -> new Problem(Problem.Kind.NOT_READY, "the directory is starting", "retry in a moment"));
        PackedKeys keys = chain.keys();
        KeyQuery question = new KeyQuery(Namespaces.digest(chain.namespace()), keys.bytes(), keys.width(), placements);
        return atOnce ? asked.askAtOnce(question).orElseThrow(NotAtOnce::new) : asked.ask(question);
    }

    private static Freshness nothing() {
        return new Freshness(false, 0, System.currentTimeMillis());
    }

    private static Freshness dated(Freshness freshness) {
        return freshness.asOfMs() == Long.MAX_VALUE ? nothing() : freshness;
    }
}
