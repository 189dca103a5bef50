/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.avro.util.ByteBufferInputStream;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Objects in a bucket of S3 or of a server that speaks its protocol: one object per block, put by one request with {@code If-None-Match: *} or
 * {@code If-Match}, read by one request for as many bytes as are wanted.
 *
 * <p>The client retries throttling, 5xx and broken connections twice, within the deadline of the call; after the deadline it aborts. Objects stay
 * below the 5 GB of a single put, since a block has 1 GiB at most. Safe for use by several threads.
 */
final class S3Objects implements ObjectPort {
    private static final int ATTEMPTS = 3;
    private static final int PIECE_BYTES = 64 << 10;
    private static final String GENERATION = "tierlog-generation";
    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes \\d+-\\d+/(\\d+)");

    private final S3Client client;
    private final StoreLocation.S3 at;

    private S3Objects(S3Client client, StoreLocation.S3 at) {
        this.client = client;
        this.at = at;
    }

    /**
     * A client; connects to nothing yet.
     *
     * @throws IllegalArgumentException when no region is known
     */
    static S3Objects open(StoreLocation.S3 at) {
        Duration connect = at.access().timeout().compareTo(Duration.ofSeconds(2)) < 0 ? at.access().timeout() : Duration.ofSeconds(2);
        S3ClientBuilder builder = S3Client.builder()
                .credentialsProvider(DefaultCredentialsProvider.builder().build())
                .httpClientBuilder(Apache5HttpClient.builder()
                        .maxConnections(at.access().connections())
                        .connectionTimeout(connect)
                        .socketTimeout(at.access().timeout())
                        .connectionAcquisitionTimeout(at.access().timeout()))
                .forcePathStyle(at.pathStyle())
                // Header and block have checksums of their own, and older servers refuse those that newer clients add.
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .serviceConfiguration(S3Configuration.builder().chunkedEncodingEnabled(false).build())
                .overrideConfiguration(config -> config.retryStrategy(StandardRetryStrategy.builder().maxAttempts(ATTEMPTS).build()));
        at.endpoint().ifPresent(builder::endpointOverride);
        // A server that is not Amazon's has no regions, and the signature needs one.
        at.region().or(() -> at.endpoint().map(own -> "us-east-1")).map(Region::of).ifPresent(builder::region);
        try {
            return new S3Objects(builder.build(), at);
        } catch (SdkClientException e) {
            throw new IllegalArgumentException("--store " + at + ": " + e.getMessage() + "; give region=NAME in the URL, or AWS_REGION", e);
        }
    }

    @Override
    public Optional<Seen> read(String name, ByteBuffer header, ByteBuffer body, Deadline deadline) throws StoreFault {
        int wanted = header.remaining() + body.remaining();
        GetObjectRequest request = GetObjectRequest.builder()
                .bucket(at.bucket())
                .key(key(name))
                .range("bytes=0-" + (wanted - 1))
                .overrideConfiguration(within(deadline))
                .build();
        try {
            return Optional.of(client.getObject(request, (response, in) -> {
                // Run again after a connection broke.
                header.rewind();
                body.rewind();
                Seen seen = seen(response);
                fill(header, in);
                if (seen.size() == wanted) {
                    fill(body, in);
                }
                return seen;
            }));
        } catch (NoSuchKeyException e) {
            return Optional.empty();
        } catch (S3Exception e) {
            if (e.statusCode() == 416) {
                return empty(name, deadline);
            }
            throw fault(e);
        } catch (SdkClientException e) {
            throw StoreFault.silent(String.valueOf(e.getMessage()), e);
        }
    }

    /** An object of no bytes has no range. */
    private Optional<Seen> empty(String name, Deadline deadline) throws StoreFault {
        try {
            HeadObjectResponse head = client.headObject(
                    HeadObjectRequest.builder().bucket(at.bucket()).key(key(name)).overrideConfiguration(within(deadline)).build());
            return Optional.of(new Seen(head.contentLength(), generation(head.metadata()), head.eTag()));
        } catch (NoSuchKeyException e) {
            return Optional.empty();
        } catch (S3Exception e) {
            throw fault(e);
        } catch (SdkClientException e) {
            throw StoreFault.silent(String.valueOf(e.getMessage()), e);
        }
    }

    private static Seen seen(GetObjectResponse response) {
        OptionalLong all = OptionalLong.empty();
        if (response.contentRange() != null) {
            Matcher range = CONTENT_RANGE.matcher(response.contentRange());
            all = range.matches() ? OptionalLong.of(Long.parseLong(range.group(1))) : all;
        }
        return new Seen(all.orElse(response.contentLength()), generation(response.metadata()), response.eTag());
    }

    private static long generation(Map<String, String> metadata) {
        String text = metadata.getOrDefault(GENERATION, "");
        return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
    }

    /** Until the buffer is full or the stream at its end. */
    private static void fill(ByteBuffer into, InputStream in) throws IOException {
        byte[] piece = new byte[Math.min(PIECE_BYTES, into.remaining())];
        int read = 0;
        while (into.hasRemaining() && read >= 0) {
            read = in.read(piece, 0, Math.min(piece.length, into.remaining()));
            into.put(piece, 0, Math.max(0, read));
        }
    }

    @Override
    public boolean put(String name, Optional<String> version, Image image, Deadline deadline) throws StoreFault {
        PutObjectRequest.Builder request = PutObjectRequest.builder()
                .bucket(at.bucket())
                .key(key(name))
                .metadata(Map.of(GENERATION, String.valueOf(image.generation())))
                .overrideConfiguration(within(deadline));
        version.ifPresentOrElse(request::ifMatch, () -> request.ifNoneMatch("*"));
        RequestBody body = RequestBody.fromContentProvider(
                () -> new ByteBufferInputStream(List.of(image.header().duplicate().rewind(), image.body().duplicate().rewind())),
                image.size(), "application/octet-stream");
        try {
            client.putObject(request.build(), body);
            return true;
        } catch (S3Exception e) {
            // 412: the condition does not hold; 409: another put of this key is under way; 404 with a condition: there is none any more.
            boolean lost = e.statusCode() == 412 || e.statusCode() == 409 || (version.isPresent() && e instanceof NoSuchKeyException);
            if (lost) {
                return false;
            }
            throw fault(e);
        } catch (SdkClientException e) {
            throw StoreFault.silent(String.valueOf(e.getMessage()), e);
        }
    }

    private static AwsRequestOverrideConfiguration within(Deadline deadline) {
        return AwsRequestOverrideConfiguration.builder().apiCallTimeout(Duration.ofMillis(deadline.leftMs())).build();
    }

    private static StoreFault fault(S3Exception e) {
        String why = String.valueOf(e.getMessage());
        return switch (e.statusCode()) {
            case 429, 500, 502, 503, 504 -> StoreFault.silent(why, e);
            // No credentials, no rights, no bucket, or a request in a form that this server does not know: nothing in the store can be read.
            case 301, 307, 400, 401, 403, 404, 405, 501 -> StoreFault.refused(why, e);
            default -> StoreFault.failed(why, e);
        };
    }

    private String key(String name) {
        return at.prefix().isEmpty() ? name : at.prefix() + "/" + name;
    }

    @Override
    public String toString() {
        return at.toString();
    }

    @Override
    public void close() {
        client.close();
    }
}
