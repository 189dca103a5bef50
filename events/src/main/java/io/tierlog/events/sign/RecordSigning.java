/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.sign;

import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import javax.crypto.SecretKey;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signs records and checks them, with the keys of this process. Safe for use by several threads.
 *
 * <p>{@link Mode#WARN} takes records without a code, and counts them, so that a running cluster can be moved; one whose code is wrong is refused in
 * both modes.
 */
public final class RecordSigning {
    private static final Logger LOG = LoggerFactory.getLogger(RecordSigning.class);

    private final RecordKeys keys;
    private final Topics topics;
    private final Mode mode;
    private final LongAdder unsigned = new LongAdder();
    private final LongAdder forged = new LongAdder();
    private final LongAdder keyless = new LongAdder();
    private final AtomicBoolean reported = new AtomicBoolean();

    /** What becomes of records without a code. */
    public enum Mode {
        /** They are taken and counted. */
        WARN,
        /** They are refused. */
        REQUIRE
    }

    /** With keys, for the topics of one log. */
    public RecordSigning(RecordKeys keys, Topics topics, Mode mode) {
        this.keys = keys;
        this.topics = topics;
        this.mode = mode;
    }

    /** The keys. */
    public RecordKeys keys() {
        return keys;
    }

    /** The topics whose records are signed. */
    public Topics topics() {
        return topics;
    }

    /** Records without a code that were taken, count. */
    public long unsigned() {
        return unsigned.sum();
    }

    /** Records that were refused, count. */
    public long forged() {
        return forged.sum();
    }

    /** Records that left without a code, because this process has no key for them, count. */
    public long keyless() {
        return keyless.sum();
    }

    /** A record leaves without a code: logged once, since the keys of a process do not change. */
    void keyless(String name) {
        keyless.increment();
        if (reported.compareAndSet(false, true)) {
            LOG.warn("a record leaves without a code, and is refused where codes are required: --record-keys has no key '{}' under the id {}; derive"
                    + " the file for this process with: tierlog keys derive", name, keys.signingId());
        }
    }

    /** Signs an event under the key of the sender that it names, in the place of a code that it has; a bench and tests append for many senders. */
    public void sign(Event event, ProducerRecord<byte[], byte[]> record) {
        String name = KeyNames.ofEvent(event);
        SecretKey key = name == null ? null : keys.find(keys.signingId(), name);
        if (key == null) {
            keyless(String.valueOf(name));
        } else {
            String topic = event instanceof Message ? topics.messages() : topics.events();
            RecordMac.sign(record.headers(), key, keys.signingId(), new RecordMac.Signed(topic, record.partition(), record.key(), record.value()));
        }
    }

    /** Why an event is forged, for people; null when it is not. */
    public @Nullable String check(Event event, int partition, byte @Nullable [] key, byte[] value, Headers headers) {
        String name = KeyNames.ofEvent(event);
        if (name == null) {
            // Also when records without a code are taken: no sender of Tierlog writes such a record.
            forged.increment();
            return "its sender may not write this about its aggregate";
        }
        // The relay carries a message on as it came, with its code.
        String topic = event instanceof Message ? topics.messages() : topics.events();
        return check(name, new RecordMac.Signed(topic, partition, key, value), headers);
    }

    /** The same of a record that a controller wrote: a command, a decision, a placement or a message. */
    public @Nullable String check(String topic, int partition, byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        String name = KeyNames.ofController(topics, topic, key);
        return name == null ? null : check(name, new RecordMac.Signed(topic, partition, key, value), headers);
    }

    /** Whether a record of a controller was signed under an id that our file has, by another key; counts nothing. */
    public boolean isOfOtherKey(String topic, int partition, byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        String name = KeyNames.ofController(topics, topic, key);
        RecordMac.Signed record = new RecordMac.Signed(topic, partition, key, value);
        return name != null && RecordMac.verdict(headers, keys, name, record) == RecordMac.Verdict.WRONG;
    }

    private @Nullable String check(String name, RecordMac.Signed record, Headers headers) {
        if (mode == Mode.WARN && !RecordMac.hasCode(headers)) {
            unsigned.increment();
            return null;
        }
        String why = RecordMac.check(headers, keys, name, record);
        if (why != null) {
            forged.increment();
        }
        return why;
    }
}
