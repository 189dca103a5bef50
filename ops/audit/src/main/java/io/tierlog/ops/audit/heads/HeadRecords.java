/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Sha256;
import io.tierlog.schemas.head.Head;
import io.tierlog.schemas.head.LogHead;
import java.security.MessageDigest;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** Reads records of the topic of heads. Only what has a right signature is decoded. Safe for use by several threads. */
final class HeadRecords {
    private final Topics topics;
    private final HeadKeys keys;
    private final RecordReader<Head> reader;

    HeadRecords(Topics topics, Codec codec, HeadKeys keys) {
        this.topics = topics;
        this.keys = keys;
        this.reader = codec.reader(Head.class);
    }

    /** What a record is. */
    sealed interface Read {
        /**
         * A head of this log.
         *
         * @param hash SHA-256 of its value
         */
        record Signed(LogHead head, Bytes hash, String keyId) implements Read {}

        /** It is none; {@code why} is for people. */
        record Refused(String why) implements Read {}
    }

    Read read(byte @Nullable [] value, Headers headers) {
        HeadKeys.Signer signer = keys.signer(value, headers);
        if (value == null || signer.refused().isPresent()) {
            return new Read.Refused(signer.refused().orElse("it has no value"));
        }
        return switch (reader.read(value)) {
            case Reading.Unreadable<Head> bad -> new Read.Refused("it is signed, and is not a head: " + bad.detail());
            case Reading.Decoded<Head>(LogHead head) -> head.log().equals(topics.prefix())
                    ? new Read.Signed(head, hash(value), signer.keyId())
                    : new Read.Refused("it is a head of the log " + head.log() + ", and this is the log " + topics.prefix());
        };
    }

    static Bytes hash(byte[] value) {
        MessageDigest digest = Sha256.digest();
        digest.update(value);
        return Bytes.wrapUnshared(digest.digest());
    }
}
