/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import com.google.protobuf.ByteString;
import io.tierlog.controller.directory.index.BlockPartitioner;
import io.tierlog.controller.directory.index.PlacementIndex;
import io.tierlog.controller.directory.index.PlacementIndex.Batch;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import io.tierlog.controller.directory.streams.DirectoryMetrics.Source;
import io.tierlog.directory.v1.PeerPart;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.PeerResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends each key to a replica of its partition, in this order: the index here; the instance that owns the partition; a standby here; a standby
 * elsewhere. A key without an answer is UNKNOWN. Safe for use by several threads; a caller waits at most twice the deadline of a call to another
 * instance.
 */
public final class ShardFanout {
    private final Parts parts;
    private final Semaphore calls;
    private final ForwardFailures failures;

    /**
     * What it works with.
     *
     * @param self this instance, as the others know it
     */
    record Parts(
            LocalShards copies,
            Optional<StandbyStore> standby,
            Owners.Register register,
            PeerLink link,
            Owners.Peer self,
            DirectoryLimits limits,
            DirectoryMetrics metrics) {}

    /** Keys of one partition. */
    private record Share(int partition, Batch batch) {
        int count() {
            return batch.to() - batch.from();
        }
    }

    ShardFanout(Parts parts) {
        this.parts = parts;
        calls = new Semaphore(parts.limits().forwards());
        failures = new ForwardFailures(parts.metrics());
    }

    /** Where agents of other nodes read from that one, HOST:PORT; empty without a peer API, or when the node is not alive. */
    public Optional<String> peerAddress(String node) {
        return parts.copies().nodes().peerAddress(node);
    }

    /** Queries all instances that the answer needs. */
    public KeyAnswers ask(KeyQuery question) {
        KeyAnswers answers = new KeyAnswers(question);
        List<Share> open = new ArrayList<>();
        for (Share share : shares(question)) {
            if (!here(question, share, answers)) {
                open.add(share);
            }
        }
        if (!open.isEmpty()) {
            open = elsewhere(question, open, answers, false);
            open.removeIf(share -> standby(share, answers));
            open = elsewhere(question, open, answers, true);
            for (Share share : open) {
                answers.with(Freshness.UNKNOWN);
                parts.metrics().answered(Source.NONE, share.count());
            }
        }
        return answers;
    }

    /** Answers without waiting; empty when a partition of the query has no index here. */
    public Optional<KeyAnswers> askAtOnce(KeyQuery question) {
        List<Share> shares = shares(question);
        if (!shares.stream().allMatch(share -> parts.copies().index(share.partition()).isPresent())) {
            return Optional.empty();
        }
        KeyAnswers answers = new KeyAnswers(question);
        boolean whole = shares.stream().allMatch(share -> here(question, share, answers));
        return whole ? Optional.of(answers) : Optional.empty();
    }

    /**
     * This instance's own answers about one partition; empty when it has no replica that may answer.
     *
     * @param stale whether a standby may answer
     */
    public Optional<KeyAnswers> askHere(int partition, KeyQuery question, boolean stale) {
        if (partition < 0 || partition >= parts.copies().partitions()) {
            return Optional.empty();
        }
        int[] order = new int[question.count()];
        for (int i = 0; i < order.length; i++) {
            order[i] = i;
        }
        Share share = new Share(partition, new Batch(question.namespace(), question.keys(), question.width(), order, 0, order.length));
        KeyAnswers answers = new KeyAnswers(question);
        boolean answered = here(question, share, answers) || (stale && standby(share, answers));
        return answered ? Optional.of(answers) : Optional.empty();
    }

    /** The keys by partition, by counting. */
    private List<Share> shares(KeyQuery question) {
        int partitions = parts.copies().partitions();
        int count = question.count();
        BlockPartitioner partitioner = new BlockPartitioner(question.namespace(), question.width(), partitions);
        int[] of = new int[count];
        int[] begin = new int[partitions + 1];
        for (int i = 0; i < count; i++) {
            of[i] = partitioner.of(question.keys(), i * question.width());
            begin[of[i] + 1]++;
        }
        for (int partition = 0; partition < partitions; partition++) {
            begin[partition + 1] += begin[partition];
        }
        int[] order = new int[count];
        int[] next = begin.clone();
        for (int i = 0; i < count; i++) {
            order[next[of[i]]++] = i;
        }
        List<Share> shares = new ArrayList<>();
        for (int partition = 0; partition < partitions; partition++) {
            if (begin[partition] < begin[partition + 1]) {
                Batch batch = new Batch(question.namespace(), question.keys(), question.width(), order, begin[partition], begin[partition + 1]);
                shares.add(new Share(partition, batch));
            }
        }
        return shares;
    }

    private boolean here(KeyQuery question, Share share, KeyAnswers answers) {
        Optional<PlacementIndex> index = parts.copies().index(share.partition());
        if (index.isEmpty()) {
            return false;
        }
        // Before the look, so that nothing is called fresher than it is.
        Freshness freshness = parts.copies().reach(share.partition()).freshness(System.currentTimeMillis(), parts.limits().staleAfterMs());
        if (question.placements()) {
            Optional<List<Found>> found = index.get().where(share.batch());
            if (found.isEmpty()) {
                return false;
            }
            put(share, found.get(), answers);
        } else if (!index.get().exist(share.batch(), answers.presences())) {
            return false;
        }
        answers.with(freshness);
        parts.metrics().answered(Source.INDEX, share.count());
        return true;
    }

    private static void put(Share share, List<Found> found, KeyAnswers answers) {
        for (int i = 0; i < found.size(); i++) {
            answers.put(share.batch().order()[share.batch().from() + i], found.get(i));
        }
    }

    private boolean standby(Share share, KeyAnswers answers) {
        LocalShards.Standby seen = parts.copies().standby(share.partition());
        Optional<List<Found>> found = seen.whole()
                ? parts.standby().flatMap(store -> store.where(share.partition(), share.batch()))
                : Optional.empty();
        found.ifPresent(each -> {
            put(share, each, answers);
            answers.with(seen.freshness());
            parts.metrics().answered(Source.STANDBY, share.count());
        });
        return found.isPresent();
    }

    /** Queries other instances for all open parts, each once and all at the same time; returns the parts that are still open. */
    private List<Share> elsewhere(KeyQuery question, List<Share> open, KeyAnswers answers, boolean stale) {
        Map<Owners.Peer, List<Share>> byPeer = new LinkedHashMap<>();
        List<Share> still = new ArrayList<>();
        for (Share share : open) {
            Optional<Owners.Peer> peer = peer(share.partition(), stale);
            if (peer.isPresent()) {
                byPeer.computeIfAbsent(peer.get(), _ -> new ArrayList<>()).add(share);
            } else {
                still.add(share);
            }
        }
        Map<Owners.Peer, CompletableFuture<PeerResponse>> calling = new LinkedHashMap<>();
        byPeer.forEach((peer, shares) -> calling.put(peer, call(peer, request(question, shares, stale))));
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(parts.limits().forwardMs());
        calling.forEach((peer, call) -> {
            List<Share> shares = byPeer.getOrDefault(peer, List.of());
            Optional<PeerResponse> response = await(peer, call, deadlineNs);
            for (int i = 0; i < shares.size(); i++) {
                if (response.isPresent() && PeerMessages.take(response.get(), i, shares.get(i).batch(), answers)) {
                    parts.metrics().answered(stale ? Source.STANDBY : Source.PEER, shares.get(i).count());
                } else {
                    still.add(shares.get(i));
                }
            }
        });
        return still;
    }

    private Optional<Owners.Peer> peer(int partition, boolean stale) {
        Owners owners = parts.register().of(partition);
        Optional<Owners.Peer> peer = stale
                ? owners.standbys().stream().filter(one -> !one.equals(parts.self())).findFirst()
                : owners.active();
        return peer.filter(one -> !one.equals(parts.self()));
    }

    private static PeerRequest request(KeyQuery question, List<Share> shares, boolean stale) {
        PeerRequest.Builder request = PeerRequest.newBuilder()
                .setNamespaceDigest(ByteString.copyFrom(question.namespace().unshared()))
                .setKeyBytes(question.width())
                .setPlacements(question.placements())
                .setAllowStale(stale);
        for (Share share : shares) {
            byte[] keys = new byte[share.count() * question.width()];
            for (int i = 0; i < share.count(); i++) {
                int number = share.batch().order()[share.batch().from() + i];
                System.arraycopy(question.keys(), number * question.width(), keys, i * question.width(), question.width());
            }
            request.addParts(PeerPart.newBuilder().setPartition(share.partition()).setPackedKeys(ByteString.copyFrom(keys)));
        }
        return request.build();
    }

    private CompletableFuture<PeerResponse> call(Owners.Peer peer, PeerRequest request) {
        if (!calls.tryAcquire()) {
            return CompletableFuture.failedFuture(
                    new ForwardFailures.TooMany(parts.limits().forwards() + " calls to other instances are in progress"));
        }
        CompletableFuture<PeerResponse> asked;
        try {
            asked = parts.link().ask(peer, request);
        } catch (RuntimeException e) {
            asked = CompletableFuture.failedFuture(e); // an address that is none, for example: the call has ended, and its place is free
        }
        return asked.whenComplete((_, _) -> calls.release());
    }

    private Optional<PeerResponse> await(Owners.Peer peer, CompletableFuture<PeerResponse> call, long deadlineNs) {
        try {
            return Optional.of(call.get(Math.max(0, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS));
        } catch (ExecutionException e) {
            failures.failed(peer, e.getCause() == null ? e : e.getCause());
            return Optional.empty();
        } catch (TimeoutException e) {
            failures.failed(peer, e);
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
