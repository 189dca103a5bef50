/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

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

/** The paths to a directory (in its own process, over gRPC, over HTTP) and to Redis. Static and without state. */
final class QueryPaths {
    private static final HexFormat HEX = HexFormat.of();

    private QueryPaths() {}

    private record Path(String name, boolean lookup, Opener opener) implements QueryPath {
        @Override
        public Session open() throws Exception {
            return opener.open();
        }
    }

    private interface Opener {
        QueryPath.Session open() throws Exception;
    }

    static QueryPath inProcess(LookupQueries queries, boolean lookup) {
        QueryPath.Session session = batch -> {
            BlockChain chain = new BlockChain(Keys.NAMESPACE, new PackedKeys(batch.packed(), Keys.BYTES), 0);
            return lookup
                    ? queries.lookup(Caller.LOCAL, chain, Optional.empty()).blocks()
                    : found(queries.exist(Caller.LOCAL, chain, false, Optional.empty()).presences());
        };
        return new Path("in process", lookup, () -> session);
    }

    static int found(byte[] presences) {
        int found = 0;
        for (byte presence : presences) {
            found += presence == Presence.FOUND.code() ? 1 : 0;
        }
        return found;
    }

    static QueryPath grpc(ManagedChannel channel, boolean lookup) {
        DirectoryGrpc.DirectoryBlockingStub stub = DirectoryGrpc.newBlockingStub(channel);
        QueryPath.Session session = batch -> lookup ? lookup(stub, batch) : exist(stub, batch);
        return new Path("gRPC", lookup, () -> session);
    }

    static QueryPath grpcStream(ManagedChannel channel, boolean lookup) {
        return new Path("gRPC stream", lookup, () -> new StreamSession(channel, lookup));
    }

    private static int exist(DirectoryGrpc.DirectoryBlockingStub stub, Keys.Batch batch) {
        return found(stub.batchExist(existRequest(batch)).getAnswers().toByteArray());
    }

    private static int lookup(DirectoryGrpc.DirectoryBlockingStub stub, Keys.Batch batch) {
        return stub.lookup(lookupRequest(batch)).getBlocks();
    }

    static BatchExistRequest existRequest(Keys.Batch batch) {
        return BatchExistRequest.newBuilder()
                .setNamespace(Keys.NAMESPACE)
                .setKeyBytes(Keys.BYTES)
                .setPackedKeys(UnsafeByteOperations.unsafeWrap(batch.packed()))
                .build();
    }

    static LookupRequest lookupRequest(Keys.Batch batch) {
        return LookupRequest.newBuilder()
                .setNamespace(Keys.NAMESPACE)
                .setKeyBytes(Keys.BYTES)
                .setPackedKeys(UnsafeByteOperations.unsafeWrap(batch.packed()))
                .build();
    }

    static QueryPath http(HttpClient client, int port, boolean lookup) {
        URI uri = URI.create("http://127.0.0.1:" + port + (lookup ? "/v1/lookup" : "/v1/batch_exist"));
        QueryPath.Session session = batch -> {
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
        return new Path("HTTP, JSON", lookup, () -> session);
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

    /** Redis, existence: one command for each key, all of a batch in one write. */
    static QueryPath redisExists(int port) {
        return new Path("Redis, EXISTS pipelined", false, () -> new RedisSession(port, RedisSession.Command.EXISTS));
    }

    /** Redis, values: one command for all keys of a batch. */
    static QueryPath redisMget(int port, boolean lookup) {
        return new Path("Redis, MGET", lookup, () -> new RedisSession(port, lookup ? RedisSession.Command.MGET_PREFIX : RedisSession.Command.MGET));
    }
}
