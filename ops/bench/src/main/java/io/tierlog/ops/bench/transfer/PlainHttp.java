/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.transfer.Fio.Mode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.apache.avro.util.ByteBufferInputStream;

/**
 * Every host page to a server and back by one PUT and one GET of its bytes, without signatures, conditions, checksums or a look before: what a client
 * could reach that does no more than HTTP.
 */
final class PlainHttp implements AutoCloseable {
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final int PIECE_BYTES = 64 << 10;

    private final HostBlocks host;
    private final URI base;
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(LONGEST).build();

    /** @param base ends with a slash */
    PlainHttp(HostBlocks host, URI base) {
        this.host = host;
        this.base = base;
    }

    Sample run(Mode mode) throws InterruptedException {
        return BlockLoop.run(host.shape(), "a plain request", block -> {
            switch (mode) {
                case write -> put(block);
                case read -> get(block);
            }
        });
    }

    private HttpRequest.Builder request(int block) {
        return HttpRequest.newBuilder(base.resolve(Integer.toString(block))).timeout(LONGEST);
    }

    private void put(int block) throws IOException, InterruptedException {
        ByteBuffer page = host.pool().buffer(block);
        HttpRequest.BodyPublisher bytes = BodyPublishers.fromPublisher(
                BodyPublishers.ofInputStream(() -> new ByteBufferInputStream(List.of(page.duplicate()))), page.remaining());
        HttpResponse<String> answer = client.send(request(block).PUT(bytes).build(), BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IOException("PUT of block " + block + " was answered with " + answer.statusCode() + ": " + answer.body());
        }
    }

    private void get(int block) throws IOException, InterruptedException {
        HttpResponse<InputStream> answer = client.send(request(block).GET().build(), BodyHandlers.ofInputStream());
        ByteBuffer page = host.pool().buffer(block);
        try (InputStream in = answer.body()) {
            byte[] piece = new byte[PIECE_BYTES];
            for (int read = in.read(piece); read >= 0 && read <= page.remaining(); read = in.read(piece)) {
                page.put(piece, 0, read);
            }
        }
        if (answer.statusCode() != 200 || page.hasRemaining()) {
            throw new IOException("GET of block " + block + " was answered with " + answer.statusCode() + ", and " + page.position() + " bytes");
        }
    }

    @Override
    public void close() {
        client.shutdownNow();
        client.close();
    }
}
