/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.agent.core.port.PeerFinder.Holder;
import io.tierlog.agent.core.port.PeerFinderContract;
import io.tierlog.agent.core.port.PeerTable;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.LookupResponse;
import io.tierlog.directory.v1.NodePrefix;
import io.tierlog.directory.v1.TierPrefix;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The finder over real sockets, before a server that plays the directory; with the real one it stands in PeerReadTest. */
class DirectoryPeersTest {
    private static final Bytes KEY = Bytes.ofHex("00112233445566778899aabbccddeeff");
    private static final DirectoryPeers.Bounds LONG = new DirectoryPeers.Bounds(20_000, 64);

    private final BlockingQueue<AgentInput> told = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** What a directory says of these copies. */
    private static LookupResponse lookup(LookupRequest request) {
        List<Bytes> keys = DirectoryStand.keys(request).stream().map(key -> Bytes.wrapUnshared(key.toByteArray())).toList();
        PeerTable table = new PeerTable("", List.of(), Contract::keyOf, page -> new byte[0], input -> {});
        Map<String, NodePrefix.Builder> nodes = new LinkedHashMap<>();
        for (PeerTable.Copy copy : Contract.copies()) {
            int run = table.run(copy, request.getNamespace(), request.getFirstIndex(), keys);
            if (run > 0) {
                NodePrefix.Builder node = nodes.computeIfAbsent(copy.node(), name -> NodePrefix.newBuilder()
                        .setNode(name).setPeerAddress(PeerTable.isReadable(name) ? name + ":7000" : ""));
                node.setBlocks(Math.max(node.getBlocks(), run));
                node.setPeerReadable(copy.tier() == Tier.DEVICE ? node.getPeerReadable() : Math.max(node.getPeerReadable(), run));
                node.addTiers(TierPrefix.newBuilder().setTier(said(copy.tier())).setBlocks(run));
            }
        }
        LookupResponse.Builder response = LookupResponse.newBuilder();
        nodes.values().forEach(response::addNodes);
        return response.build();
    }

    private static io.tierlog.directory.v1.Tier said(Tier tier) {
        return io.tierlog.directory.v1.Tier.valueOf("TIER_" + tier);
    }

    @Nested
    class Contract extends PeerFinderContract {
        static List<PeerTable.Copy> copies() {
            return COPIES;
        }

        static Bytes keyOf(int number) {
            return key(number);
        }

        @Override
        protected PeerFinder finder(BlockingQueue<AgentInput> to) throws Exception {
            DirectoryStand stand = own(new DirectoryStand(Optional.empty(), DirectoryPeersTest::lookup));
            return own(new DirectoryPeers(SELF, new DirectoryPeers.Access(stand.address(), Optional.empty()), LONG, to::add));
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private DirectoryPeers finder(PeerAddress address, Optional<PeerToken> token, DirectoryPeers.Bounds bounds) {
        DirectoryPeers finder = new DirectoryPeers("a", new DirectoryPeers.Access(address, token), bounds, told::add);
        opened.add(finder);
        return finder;
    }

    private DirectoryStand stand(DirectoryStand.Answers answer) throws IOException {
        DirectoryStand stand = new DirectoryStand(Optional.empty(), answer);
        opened.add(stand);
        return stand;
    }

    private PeersFound next() throws InterruptedException {
        @Nullable AgentInput input = told.poll(20, TimeUnit.SECONDS);
        if (input == null) {
            throw new AssertionError("no answer within 20 s");
        }
        return (PeersFound) input;
    }

    private List<Holder> found(long unit) throws InterruptedException {
        PeersFound next = next();
        assertEquals(unit, next.unit());
        return next.holders();
    }

    private static LookupResponse holder(String node, String address, int peerReadable, int onHost) {
        TierPrefix.Builder host = TierPrefix.newBuilder().setTier(io.tierlog.directory.v1.Tier.TIER_HOST).setBlocks(onHost);
        return LookupResponse.newBuilder().addNodes(NodePrefix.newBuilder().setNode(node).setPeerAddress(address).setBlocks(peerReadable)
                .setPeerReadable(peerReadable).addTiers(host)).build();
    }

    /**
     * 20,000 keys are three questions. b has 10,000 of them on its host and the rest on its disk, c the first 8,192 alone, d nothing of the first
     * part. The third part is asked since b has both before it.
     */
    @Test
    void aLongPromptIsAskedAboutInParts() throws Exception {
        DirectoryStand stand = stand(request -> {
            int keys = request.getPackedKeys().size() / request.getKeyBytes();
            LookupResponse b = holder("b", "b:7000", keys, Math.clamp(10_000 - request.getFirstIndex(), 0, keys));
            LookupResponse.Builder all = b.toBuilder();
            if (request.getFirstIndex() == 7) {
                all.addNodes(holder("c", "c:7000", keys, keys).getNodes(0));
            } else {
                all.addNodes(holder("d", "d:7000", keys, keys).getNodes(0));
            }
            return all.build();
        });
        DirectoryPeers finder = finder(stand.address(), Optional.empty(), LONG);
        finder.find(1, "m", 7, Collections.nCopies(20_000, KEY));
        assertEquals(List.of(new Holder("b", "b:7000", Tier.DISK, 20_000), new Holder("c", "c:7000", Tier.HOST, 8_192)), found(1));
        assertEquals(List.of(7, 7 + 8_192, 7 + 16_384), stand.asked.stream().map(LookupRequest::getFirstIndex).toList());
        assertEquals(List.of(8_192, 8_192, 3_616), stand.asked.stream().map(asked -> asked.getPackedKeys().size() / 16).toList());
        assertEquals(new DirectoryPeers.Lookups(3, 0, 0), finder.lookups());
    }

    /** The first part is answered, the second not: what is known counts when the time is over. */
    @Test
    void anAnswerThatStopsHalfWayCountsAsFarAsItGoes() throws Exception {
        DirectoryStand stand = stand(request -> request.getFirstIndex() == 0 ? holder("b", "b:7000", 8_192, 8_192) : null);
        DirectoryPeers finder = finder(stand.address(), Optional.empty(), new DirectoryPeers.Bounds(1_500, 64));
        finder.find(2, "m", 0, Collections.nCopies(8_193, KEY));
        assertEquals(List.of(new Holder("b", "b:7000", Tier.HOST, 8_192)), found(2));
        assertEquals(2, stand.asked.size());
        assertEquals(new DirectoryPeers.Lookups(1, 1, 0), finder.lookups());
    }

    /** No node has the whole first part: nothing is asked about the second. */
    @Test
    void theNextPartIsNotAskedAboutWhereNoNodeHasTheOneBefore() throws Exception {
        DirectoryStand stand = stand(request -> holder("b", "b:7000", 8_191, 8_191));
        DirectoryPeers finder = finder(stand.address(), Optional.empty(), LONG);
        finder.find(3, "m", 0, Collections.nCopies(20_000, KEY));
        assertEquals(List.of(new Holder("b", "b:7000", Tier.HOST, 8_191)), found(3));
        assertEquals(1, stand.asked.size());
    }

    /** f has blocks on its device, which it cannot share, and a is the requester. */
    @Test
    void whatIsAskedIsThePromptFromItsPosition() throws Exception {
        LookupResponse said = holder("c", "c:1", 9, 9).toBuilder()
                .addNodes(NodePrefix.newBuilder().setNode("f").setPeerAddress("f:1").setBlocks(9))
                .addNodes(NodePrefix.newBuilder().setNode("a").setPeerAddress("a:1").setBlocks(9).setPeerReadable(9))
                .build();
        DirectoryStand stand = new DirectoryStand(Optional.of("Bearer 0123456789abcdef"), request -> said);
        opened.add(stand);
        DirectoryPeers finder = finder(stand.address(), Optional.of(PeerToken.of("0123456789abcdef")), LONG);
        finder.find(5, "m", 12, List.of(KEY, KEY));
        assertEquals(List.of(new Holder("c", "c:1", Tier.HOST, 2)), found(5)); // never more than was asked for
        LookupRequest request = stand.asked.getFirst();
        assertEquals(List.of("m", 12, 16, "a"),
                List.of(request.getNamespace(), request.getFirstIndex(), request.getKeyBytes(), request.getNode()));
        assertEquals(ByteString.copyFrom(KEY.unshared()).concat(ByteString.copyFrom(KEY.unshared())), request.getPackedKeys());
        assertEquals(new DirectoryPeers.Lookups(1, 0, 0), finder.lookups());
    }

    /** Late, without a token, or without a directory: no other node has a block, and the next lookup is a new request. */
    @Test
    void whatFailsIsNobodysAndCounted() throws Exception {
        DirectoryStand silent = new DirectoryStand(Optional.empty(), request -> null);
        opened.add(silent);
        DirectoryPeers late = finder(silent.address(), Optional.empty(), new DirectoryPeers.Bounds(300, 4));
        late.find(1, "m", 0, List.of(KEY));
        assertEquals(List.of(), found(1));
        assertEquals(new DirectoryPeers.Lookups(0, 1, 0), late.lookups());

        DirectoryStand strict = new DirectoryStand(Optional.of("Bearer another-token-16"), request -> holder("c", "c:1", 1, 1));
        opened.add(strict);
        DirectoryPeers stranger = finder(strict.address(), Optional.of(PeerToken.of("0123456789abcdef")), LONG);
        stranger.find(2, "m", 0, List.of(KEY));
        assertEquals(List.of(), found(2));
        assertEquals(new DirectoryPeers.Lookups(0, 1, 0), stranger.lookups());

        DirectoryStand gone = new DirectoryStand(Optional.empty(), request -> holder("c", "c:1", 1, 1));
        DirectoryPeers left = finder(gone.address(), Optional.empty(), LONG);
        left.find(3, "m", 0, List.of(KEY));
        assertEquals(1, found(3).size());
        gone.close();
        left.find(4, "m", 0, List.of(KEY));
        assertEquals(List.of(), found(4));
        assertEquals(new DirectoryPeers.Lookups(1, 1, 0), left.lookups());
    }

    /** Two may be under way; the third is empty at once. When one of them is over, another may begin. */
    @Test
    void thereAreNoMoreQuestionsThanTheLimit() throws Exception {
        DirectoryStand silent = new DirectoryStand(Optional.empty(), request -> null);
        opened.add(silent);
        DirectoryPeers finder = finder(silent.address(), Optional.empty(), new DirectoryPeers.Bounds(2_000, 2));
        finder.find(1, "m", 0, List.of(KEY));
        finder.find(2, "m", 0, List.of(KEY));
        Eventually.await("both are asked", () -> silent.open() == 2);
        finder.find(3, "m", 0, List.of(KEY));
        assertEquals(List.of(), found(3));
        assertEquals(new DirectoryPeers.Lookups(0, 0, 1), finder.lookups());
        // Two deadlines of the same moment: either may be first.
        long first = next().unit();
        assertEquals(Set.of(1L, 2L), Set.of(first, next().unit()));
        finder.find(4, "m", 0, List.of(KEY));
        Eventually.await("there is space", () -> silent.open() == 3);
        found(4);
    }

    @Test
    void whoClosesAnswersWhatIsOpen() throws Exception {
        DirectoryStand silent = new DirectoryStand(Optional.empty(), request -> null);
        opened.add(silent);
        DirectoryPeers finder = finder(silent.address(), Optional.empty(), LONG);
        finder.find(1, "m", 0, List.of(KEY));
        Eventually.await("it is asked", () -> silent.open() == 1);
        finder.close();
        assertEquals(List.of(), found(1));
        finder.find(2, "m", 0, List.of(KEY));
        assertEquals(List.of(), found(2));
    }

    @Test
    void settingsAreChecked() {
        IllegalArgumentException wrong = assertThrows(
                IllegalArgumentException.class, () -> new DirectoryPeers.Access(new PeerAddress("x", 0), Optional.empty()));
        assertTrue(String.valueOf(wrong.getMessage()).contains("--directory"), wrong.getMessage());
        assertThrows(IllegalArgumentException.class, () -> new DirectoryPeers.Bounds(0, 1));
        assertThrows(IllegalArgumentException.class, () -> new DirectoryPeers.Bounds(1, 0));
    }
}
