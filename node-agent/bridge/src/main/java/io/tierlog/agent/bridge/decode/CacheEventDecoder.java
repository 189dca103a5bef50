/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes what LMCache's sinks send over HTTP and to Kafka: an object with batches, or one batch. It is read in a stream, so that a payload takes no
 * more memory than its events; ids of tokens are counted and not kept. A batch whose sender and number can be read is a batch, also when its events
 * cannot. Without state; safe for use by several threads.
 */
public final class CacheEventDecoder {
    /** Longest payload, bytes. */
    public static final int LARGEST_PAYLOAD = 16 << 20;

    private static final int MOST_BATCHES = 4_096;
    private static final int DEPTH = 64;
    private static final int LONGEST_NUMBER = 64;
    private static final int LONGEST_TEXT = 1 << 16;
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(DEPTH)
                    .maxNumberLength(LONGEST_NUMBER)
                    .maxStringLength(LONGEST_TEXT)
                    .maxNameLength(LONGEST_TEXT)
                    .maxDocumentLength(LARGEST_PAYLOAD)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .build();

    private CacheEventDecoder() {}

    /** Decodes one payload; never throws. */
    public static CacheRequest decode(byte[] payload) {
        if (payload.length > LARGEST_PAYLOAD) {
            return new CacheRequest.Malformed("a payload of " + payload.length + " bytes: at most " + LARGEST_PAYLOAD);
        }
        try (JsonParser in = JSON.createParser(payload)) {
            if (in.nextToken() != JsonToken.START_OBJECT) {
                throw new MalformedPayloadException("the payload is no JSON object");
            }
            List<CacheBatch> batches = request(in, payload.length);
            if (in.nextToken() != null) {
                throw new MalformedPayloadException("something follows the JSON object");
            }
            return new CacheRequest.Batches(batches);
        } catch (MalformedPayloadException e) {
            return new CacheRequest.Malformed(String.valueOf(e.getMessage()));
        } catch (JsonParseException | StreamConstraintsException e) {
            return new CacheRequest.Malformed("not JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            // Four bytes that look like UTF-32, and others that are not: the parser has no exception of its own for them.
            return new CacheRequest.Malformed("not JSON in UTF-8: " + e.getMessage());
        }
    }

    /** The fields of the outermost object: the batches, or those of one batch. */
    private static List<CacheBatch> request(JsonParser in, int length) throws IOException {
        List<CacheBatch> batches = new ArrayList<>();
        CacheBatchFields alone = new CacheBatchFields();
        boolean list = false;
        for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
            in.nextToken();
            if (name.equals("batches")) {
                list = true;
                batches(in, length, batches);
            } else {
                alone.field(in, name);
            }
        }
        if (!list) {
            batches.add(alone.batch(0, length));
        }
        return batches;
    }

    private static void batches(JsonParser in, int length, List<CacheBatch> batches) throws IOException {
        if (in.currentToken() != JsonToken.START_ARRAY) {
            throw new MalformedPayloadException("'batches' is no list");
        }
        while (in.nextToken() != JsonToken.END_ARRAY) {
            if (in.currentToken() != JsonToken.START_OBJECT) {
                throw new MalformedPayloadException("batch " + batches.size() + " is no object");
            }
            if (batches.size() >= MOST_BATCHES) {
                throw new MalformedPayloadException("more than " + MOST_BATCHES + " batches");
            }
            long from = in.currentTokenLocation().getByteOffset();
            CacheBatchFields fields = new CacheBatchFields();
            for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
                in.nextToken();
                fields.field(in, name);
            }
            long to = in.currentLocation().getByteOffset();
            // No offsets are known of a payload that is not UTF-8.
            boolean known = from >= 0 && to > from && to <= length;
            batches.add(fields.batch(known ? (int) from : 0, known ? (int) to : length));
        }
    }
}
