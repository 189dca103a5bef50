/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ManagedChannel;
import io.tierlog.controller.directory.api.BlockChain;
import io.tierlog.controller.directory.api.LookupQueries;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.LookupRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HexFormat;
import java.util.Optional;

/** The ways to ask a directory: in its own process, over gRPC, over HTTP. Static and without state. */
final class Ways {
    private static final HexFormat HEX = HexFormat.of();

    private Ways() {}

    /** A way by its parts. */
    private record Made(String name, boolean lookup, Opener opener) implements Way {
        @Override
        public Session open() throws Exception {
            return opener.open();
        }
    }

    private interface Opener {
        Way.Session open() throws Exception;
    }

    static Way inProcess(LookupQueries questions, boolean lookup) {
        Way.Session session = batch -> {
            BlockChain chain = new BlockChain(Keys.NAMESPACE, new PackedKeys(batch.packed(), Keys.BYTES), 0);
            return lookup
                    ? questions.lookup(Caller.LOCAL, chain, Optional.empty()).blocks()
                    : found(questions.exist(Caller.LOCAL, chain, false, Optional.empty()).presences());
        };
        return new Made("in process", lookup, () -> session);
    }

    private static int found(byte[] presences) {
        int found = 0;
        for (byte presence : presences) {
            found += presence == Presence.FOUND.code() ? 1 : 0;
        }
        return found;
    }

    static Way grpc(ManagedChannel channel, boolean lookup) {
        DirectoryGrpc.DirectoryBlockingStub stub = DirectoryGrpc.newBlockingStub(channel);
        Way.Session session = batch -> lookup ? lookup(stub, batch) : exist(stub, batch);
        return new Made("gRPC", lookup, () -> session);
    }

    static Way grpcStream(ManagedChannel channel, boolean lookup) {
        return new Made("gRPC stream", lookup, () -> new StreamSession(channel, lookup));
    }

    private static int exist(DirectoryGrpc.DirectoryBlockingStub stub, Keys.Batch batch) {
        ByteString answers = stub.batchExist(BatchExistRequest.newBuilder()
                        .setNamespace(Keys.NAMESPACE)
                        .setKeyBytes(Keys.BYTES)
                        .setPackedKeys(UnsafeByteOperations.unsafeWrap(batch.packed()))
                        .build())
                .getAnswers();
        int found = 0;
        for (int i = 0; i < answers.size(); i++) {
            found += answers.byteAt(i) == Presence.FOUND.code() ? 1 : 0;
        }
        return found;
    }

    private static int lookup(DirectoryGrpc.DirectoryBlockingStub stub, Keys.Batch batch) {
        return stub.lookup(LookupRequest.newBuilder()
                        .setNamespace(Keys.NAMESPACE)
                        .setKeyBytes(Keys.BYTES)
                        .setPackedKeys(UnsafeByteOperations.unsafeWrap(batch.packed()))
                        .build())
                .getBlocks();
    }

    static Way http(HttpClient client, int port, boolean lookup) {
        URI uri = URI.create("http://127.0.0.1:" + port + (lookup ? "/v1/lookup" : "/v1/batch_exist"));
        Way.Session session = batch -> {
            HttpResponse<String> response = client.send(
                    HttpRequest.newBuilder(uri)
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString(body(batch)))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) {
                throw new IOException(response.statusCode() + ": " + response.body());
            }
            return lookup ? blocks(response.body()) : count(response.body(), "\"FOUND\"");
        };
        return new Made("HTTP, JSON", lookup, () -> session);
    }

    private static String body(Keys.Batch batch) {
        StringBuilder body = new StringBuilder(batch.count() * 36 + 64).append("{\"namespace\":\"").append(Keys.NAMESPACE).append("\",\"keys\":[");
        for (int i = 0; i < batch.count(); i++) {
            body.append(i == 0 ? "\"" : ",\"").append(HEX.formatHex(batch.packed(), i * Keys.BYTES, (i + 1) * Keys.BYTES)).append('"');
        }
        return body.append("]}").toString();
    }

    private static int blocks(String body) {
        String before = "{\"blocks\":";
        return Integer.parseInt(body.substring(before.length(), body.indexOf(',')));
    }

    private static int count(String text, String what) {
        int count = 0;
        for (int at = text.indexOf(what); at >= 0; at = text.indexOf(what, at + what.length())) {
            count++;
        }
        return count;
    }

    /** Redis, as it is asked for existence: one command for each key, all of a batch in one write. */
    static Way redisExists(int port) {
        return new Made("Redis, EXISTS pipelined", false, () -> new RedisSession(port, RedisSession.Command.EXISTS));
    }

    /** Redis, as it is asked for values: one command for all keys of a batch. */
    static Way redisMget(int port, boolean lookup) {
        return new Made("Redis, MGET", lookup, () -> new RedisSession(port, lookup ? RedisSession.Command.MGET_PREFIX : RedisSession.Command.MGET));
    }
}
