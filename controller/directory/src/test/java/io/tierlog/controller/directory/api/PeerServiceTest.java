/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static io.tierlog.controller.directory.api.DirectoryClient.digest;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.streams.LocalShardFanout;
import io.tierlog.controller.directory.streams.ShardFanout;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.GrpcServer;
import io.tierlog.controller.http.Listener;
import io.tierlog.controller.http.ServerLimits;
import io.tierlog.controller.http.Tokens;
import io.tierlog.directory.v1.DirectoryPeerGrpc;
import io.tierlog.directory.v1.PeerPart;
import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.schemas.Tier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens and limits of queries between instances; over gRPC, without a broker. */
class PeerServiceTest {
    private static final int KEYS = 3;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final LocalShardFanout blocks = new LocalShardFanout();
    private final ShardFanout fanout = blocks.fanout();

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private GrpcServer server;

    @SuppressWarnings("NullAway.Init")
    private ManagedChannel channel;

    @BeforeEach
    void start() throws Exception {
        blocks.put("t1/m", 0, "node/a", Tier.HOST);
        Path tokens = Files.writeString(directory.resolve("tokens"), "operator peers sha256:" + digest("peers") + "\n"
                + "reader all sha256:" + digest("all") + "\noperator t1 sha256:" + digest("t1") + " namespaces=t1/*\n");
        Listener where = new Listener("--test", new Endpoint("127.0.0.1", 0), new ServerLimits(2 << 20, 8, 4));
        server = new GrpcServer(where, List.of(new PeerService(Tokens.scoped(Optional.of(tokens)), () -> Optional.of(fanout), KEYS)), 32);
        channel = NettyChannelBuilder.forAddress("127.0.0.1", server.port()).usePlaintext().build();
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        server.close();
        blocks.close();
    }

    private DirectoryPeerGrpc.DirectoryPeerBlockingStub as(String token) {
        Metadata headers = new Metadata();
        headers.put(GrpcCalls.entry("authorization"), "Bearer " + token);
        return DirectoryPeerGrpc.newBlockingStub(channel).withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    /** Two parts of the one partition, with so many keys each. */
    private static PeerRequest request(int first, int second) {
        return PeerRequest.newBuilder()
                .setNamespaceDigest(ByteString.copyFrom(Namespaces.digest("t1/m").unshared()))
                .setKeyBytes(16)
                .addParts(PeerPart.newBuilder().setPackedKeys(ByteString.copyFrom(DirectoryClient.packed(0, first))))
                .addParts(PeerPart.newBuilder().setPackedKeys(ByteString.copyFrom(DirectoryClient.packed(0, second))))
                .build();
    }

    private Status.Code refused(String token, PeerRequest request) {
        return assertThrows(StatusRuntimeException.class, () -> as(token).ask(request), token).getStatus().getCode();
    }

    /** A digest does not reveal its namespace: a limited caller, even an operator, would see other namespaces. */
    @Test
    void onlyAnOperatorWithoutALimitComesIn() {
        assertEquals(ByteString.copyFrom(new byte[] {1}), as("peers").ask(request(1, 1)).getAnswers(1).getPresences());
        assertEquals(Status.Code.PERMISSION_DENIED, refused("t1", request(1, 1)));
        assertEquals(Status.Code.PERMISSION_DENIED, refused("all", request(1, 1)));
        assertEquals(Status.Code.UNAUTHENTICATED, refused("other", request(1, 1)));
    }

    @Test
    void keysOfAllPartsTogetherAreBounded() {
        assertEquals(2, as("peers").ask(request(1, 2)).getAnswers(1).getPresences().size());
        assertEquals(Status.Code.INVALID_ARGUMENT, refused("peers", request(2, 2)));
        assertEquals(Status.Code.INVALID_ARGUMENT, refused("peers", request(1, 1).toBuilder().setKeyBytes(15).build()));
        assertEquals(Status.Code.INVALID_ARGUMENT, refused("peers", request(1, 1).toBuilder().setKeyBytes(0).build()));
        assertEquals(Status.Code.INVALID_ARGUMENT, refused("peers", request(1, 1).toBuilder().clearNamespaceDigest().build()));
    }
}
