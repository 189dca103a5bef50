/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.index.BlockPartitioner;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.IndexLimits;
import io.tierlog.controller.directory.index.Location;
import io.tierlog.controller.directory.index.PlacementIndex;
import io.tierlog.controller.directory.index.PlacementIndex.BlockKey;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.probe.ProbeCounts;
import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import io.tierlog.directory.v1.PeerAnswer;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.PeerResponse;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Routing of keys, missing answers and wrong ones. Partition 0 is here, 1 is on peer a with a standby on b, 2 has no owner. */
class ShardFanoutTest {
    private static final Bytes NAMESPACE = Namespaces.digest("model/a");
    private static final Owners.Peer SELF = new Owners.Peer("here", 1);
    private static final Owners.Peer A = new Owners.Peer("a", 1);
    private static final Owners.Peer B = new Owners.Peer("b", 1);
    private static final int COUNT = 60;

    private final LocalShards copies = new LocalShards(3);
    private final DirectoryMetrics metrics = new DirectoryMetrics(copies, new ProbeCounts());
    private final List<String> asked = new ArrayList<>();
    private final Map<Owners.Peer, Function<PeerRequest, CompletableFuture<PeerResponse>>> peers = new LinkedHashMap<>();

    private KeyAnswers ask(boolean placements, int forwards) {
        PeerLink link = new PeerLink() {
            @Override
            public CompletableFuture<PeerResponse> ask(Owners.Peer peer, PeerRequest request) {
                asked.add(peer.host() + (request.getAllowStale() ? " stale" : ""));
                return peers.getOrDefault(peer, _ -> new CompletableFuture<>()).apply(request);
            }

            @Override
            public void close() {}
        };
        Owners.Register register = partition -> partition == 1 ? new Owners(Optional.of(A), List.of(SELF, B)) : Owners.NONE;
        DirectoryLimits limits = new DirectoryLimits(IndexLimits.DEFAULTS, DirectoryLimits.DEFAULTS.server(), 10_000, 50, forwards, 500, 5_000,
                16 << 20, 1_000, 10_000, 1);
        try (PlacementIndex index = new PlacementIndex(IndexLimits.DEFAULTS, copies.incarnations())) {
            IntStream.range(0, COUNT).forEach(i -> index.put(new BlockKey(NAMESPACE, PlacementLog.key(i)), placed(i)));
            copies.add(0, index);
            copies.reach(0).polled(1, -1);
            copies.reach(0).ended(1, System.currentTimeMillis());
            return new ShardFanout(new ShardFanout.Parts(copies, Optional.empty(), register, link, SELF, limits, metrics)).ask(question(placements));
        }
    }

    private static BlockPlacement placed(int number) {
        return new BlockPlacement(new Location("node/a", Tier.HOST), 1, number, 1);
    }

    private static KeyQuery question(boolean placements) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        IntStream.range(0, COUNT).forEach(i -> keys.writeBytes(PlacementLog.key(i).unshared()));
        return new KeyQuery(NAMESPACE, keys.toByteArray(), 16, placements);
    }

    private static int partition(int number) {
        return new BlockPartitioner(NAMESPACE, 16, 3).of(PlacementLog.key(number).unshared(), 0);
    }

    /** The answer of a peer with {@code code} for every key. */
    private static CompletableFuture<PeerResponse> all(PeerRequest request, int code, boolean stale) {
        PeerResponse.Builder response = PeerResponse.newBuilder();
        request.getPartsList().forEach(part -> {
            byte[] codes = new byte[part.getPackedKeys().size() / 16];
            Arrays.fill(codes, (byte) code);
            response.addAnswers(PeerAnswer.newBuilder()
                    .setPresences(ByteString.copyFrom(codes))
                    .setFreshness(PeerMessages.of(new Freshness(stale, stale ? 9 : 0, 77))));
        });
        return CompletableFuture.completedFuture(response.build());
    }

    private static void check(KeyAnswers answers, Presence ofOne) {
        Map<Integer, Presence> expected = Map.of(0, Presence.FOUND, 1, ofOne, 2, Presence.UNKNOWN);
        for (int i = 0; i < COUNT; i++) {
            assertEquals(expected.get(partition(i)), answers.presence(i), "key " + i + " of partition " + partition(i));
        }
    }

    @Test
    void theOneWhoHasThePartitionIsAsked() {
        peers.put(A, request -> all(request, 2, false));
        KeyAnswers answers = ask(false, 9);
        check(answers, Presence.NOT_FOUND);
        assertEquals(List.of("a"), asked);
        // Partition 2 has no owner.
        assertEquals(new Freshness(true, 0, 0), answers.freshness());
    }

    @Test
    void aStandbyAnswersForOneThatFailsOrIsSilentOrHasItNoMore() {
        peers.put(B, request -> all(request, 1, true));
        List<Function<PeerRequest, CompletableFuture<PeerResponse>>> faults = List.of(
                _ -> CompletableFuture.failedFuture(new IllegalStateException("gone")),
                _ -> new CompletableFuture<>(),
                _ -> CompletableFuture.completedFuture(
                        PeerResponse.newBuilder().addAnswers(PeerAnswer.newBuilder().setNotHere(true)).build()));
        for (Function<PeerRequest, CompletableFuture<PeerResponse>> fault : faults) {
            asked.clear();
            peers.put(A, fault);
            KeyAnswers answers = ask(false, 9);
            check(answers, Presence.FOUND);
            assertEquals(List.of("a", "b stale"), asked);
            assertTrue(answers.freshness().stale());
            assertEquals(9, answers.freshness().behindRecords());
        }
    }

    /** a knows no such token, and the call to b is late. */
    @Test
    void callsThatComeToNothingAreCounted() {
        peers.put(A, _ -> CompletableFuture.failedFuture(Status.UNAUTHENTICATED.asRuntimeException()));
        check(ask(false, 9), Presence.UNKNOWN);
        assertEquals(List.of("a", "b stale"), asked);
        assertEquals(List.of(1L, 1L, 0L, 0L), Arrays.stream(ForwardFailures.Reason.values()).map(metrics::failedForwards).toList());
    }

    /** One call may be under way, and that to a fails before it is: b has the place. */
    @Test
    void aCallThatCannotBeMadeKeepsNoPlace() {
        peers.put(A, _ -> {
            throw new IllegalArgumentException("no address");
        });
        peers.put(B, request -> all(request, 1, true));
        check(ask(false, 1), Presence.FOUND);
        assertEquals(List.of("a", "b stale"), asked);
        assertEquals(1, metrics.failedForwards(ForwardFailures.Reason.FAILED));
    }

    @Test
    void anAnswerThatDoesNotFitIsNone() {
        List<PeerResponse> wrong = List.of(
                PeerResponse.getDefaultInstance(),
                PeerResponse.newBuilder().addAnswers(PeerAnswer.newBuilder().setPresences(ByteString.copyFrom(new byte[] {1}))).build(),
                all(request(), 0, false).join(),
                all(request(), 4, false).join());
        for (PeerResponse response : wrong) {
            peers.put(A, _ -> CompletableFuture.completedFuture(response));
            peers.put(B, _ -> CompletableFuture.completedFuture(response));
            check(ask(false, 9), Presence.UNKNOWN);
        }
        // Placements were requested, and the answer has none of a found block.
        peers.put(A, request -> all(request, 1, false));
        peers.put(B, request -> all(request, 1, false));
        check(ask(true, 9), Presence.UNKNOWN);
    }

    private PeerRequest request() {
        PeerRequest[] seen = new PeerRequest[1];
        peers.put(A, request -> {
            seen[0] = request;
            return all(request, 2, false);
        });
        ask(false, 9);
        return seen[0];
    }

    /** One call may be under way: until it is answered, the next is refused. */
    @Test
    void callsUnderWayAreBounded() {
        KeyAnswers answers = ask(false, 1);
        check(answers, Presence.UNKNOWN);
        assertEquals(List.of("a"), asked, "the call to a is under way still, so b is not asked");
        assertEquals(1, metrics.failedForwards(ForwardFailures.Reason.FULL));
    }
}
