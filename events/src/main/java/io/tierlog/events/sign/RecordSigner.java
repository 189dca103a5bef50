/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.sign;

import java.util.Map;
import javax.crypto.SecretKey;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** In a producer: signs each record that goes to a topic of the log. Kafka makes it, by its class name. */
public final class RecordSigner implements ProducerInterceptor<byte[], byte[]> {
    /** Name of the producer setting that has the {@link RecordSigning}. */
    public static final String SIGNING = "tierlog.record.signing";

    /** Name of the producer setting that has the {@link Writer}. */
    public static final String WRITER = "tierlog.record.writer";

    private @Nullable RecordSigning signing;
    private @Nullable Writer writer;

    /** Who writes with a producer. */
    @FunctionalInterface
    public interface Writer {
        /** A bridge: it writes for each node under the key of the node. */
        Writer BRIDGE = (signing, topic, key) -> topic.equals(signing.topics().events()) ? KeyNames.agent(KeyNames.node(key)) : null;

        /** A controller: what it writes itself; ticks and requests have writers of their own. */
        Writer CONTROLLER = (signing, topic, key) -> KeyNames.ofController(signing.topics(), topic, key);

        /** Name of the key that signs a record; null when it is not signed. */
        @Nullable String keyName(RecordSigning signing, String topic, byte @Nullable [] key);

        /** A writer of events with one key. */
        static Writer of(String name) {
            return (signing, topic, key) -> topic.equals(signing.topics().events()) ? name : null;
        }
    }

    @Override
    public void configure(Map<String, ?> settings) {
        signing = (RecordSigning) settings.get(SIGNING);
        writer = (Writer) settings.get(WRITER);
    }

    /** A record that this process has no key for leaves without a code, with a warning, and is refused where codes are required. */
    @Override
    public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
        if (signing == null || writer == null || record.partition() == null) {
            return record;
        }
        String name = writer.keyName(signing, record.topic(), record.key());
        SecretKey key = name == null ? null : signing.keys().find(signing.keys().signingId(), name);
        if (name != null && key == null) {
            signing.keyless(name);
        }
        if (key != null) {
            RecordMac.sign(record.headers(), key, signing.keys().signingId(),
                    new RecordMac.Signed(record.topic(), record.partition(), record.key(), record.value()));
        }
        return record;
    }

    @Override
    public void onAcknowledgement(RecordMetadata at, @Nullable Exception failure) {
        // Only what leaves matters.
    }

    @Override
    public void close() {
        // It holds nothing.
    }
}
