/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.ops.audit.LogEntry;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * SHA-256 over the committed records of a stretch. Of each record goes in: offset and time (8 bytes each), key, value, the number of headers, and of
 * each header name and value, the code of the record among them. Texts and bytes have their length before them (4 bytes, -1 where there are none), so
 * that no two stretches have the same input. Confined to one thread.
 */
final class StretchDigest {
    private static final int ABSENT = -1;

    private final MessageDigest digest = Sha256.digest();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
    private long records;

    /** Takes the next record. */
    void add(LogEntry.Data record) {
        digest.update(number.clear().putLong(record.offset()).flip());
        digest.update(number.clear().putLong(record.timestampMs()).flip());
        part(record.key());
        part(record.value());
        Header[] headers = record.headers().toArray();
        length(headers.length);
        for (Header header : headers) {
            part(header.key().getBytes(StandardCharsets.UTF_8));
            part(header.value());
        }
        records++;
    }

    private void part(byte @Nullable [] bytes) {
        length(bytes == null ? ABSENT : bytes.length);
        if (bytes != null) {
            digest.update(bytes);
        }
    }

    private void length(int length) {
        digest.update(number.clear().putInt(length).flip());
    }

    /** Records since the beginning, or since the last {@link #take}. */
    long records() {
        return records;
    }

    /** The digest of these records, empty where there are none; the next stretch begins. */
    Bytes take() {
        byte[] taken = digest.digest();
        boolean none = records == 0;
        records = 0;
        return none ? Bytes.EMPTY : Bytes.wrapUnshared(taken);
    }
}
