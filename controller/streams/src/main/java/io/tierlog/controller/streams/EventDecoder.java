/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.api.Input;
import io.tierlog.events.Partitions;
import io.tierlog.events.PatientReader;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.event.Event;
import io.tierlog.threads.RareWarning;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bytes from the events topic to inputs of the core. One per instance, safe for use by several stream threads.
 *
 * <p>What can never be an input becomes {@link Input.Unreadable}. What cannot be read only now, because the registry does not answer, is
 * waited for on the stream thread; {@link Health} shows it. Trade-off: when that takes longer than the transaction time-out, the broker
 * aborts what was open, and the task is restored from its changelog before it goes on; after {@link StreamsTuning#stuckMs} another instance takes
 * the partition. It is rare: only a schema that this process has not met needs the registry.
 */
final class EventDecoder {
    private static final Logger LOG = LoggerFactory.getLogger(EventDecoder.class);
    /** Longest text of an envelope, in characters: decisions repeat them. */
    private static final int MAX_TEXT = 4_096;

    private final PatientReader<Event> reader;
    private final Rules rules;
    private final Health health;
    private final RareWarning forgedWarning = new RareWarning(LOG);
    private final RareWarning asideWarning = new RareWarning(LOG);

    /**
     * What is taken in.
     *
     * @param topic the events topic
     * @param partitions its number of partitions
     * @param maxBytes longest record
     * @param skip records an operator wants skipped
     * @param signing checks who wrote a record; empty when that is off
     */
    record Rules(String topic, int partitions, int maxBytes, Set<InputPosition> skip, Optional<RecordSigning> signing) {
        /** Without codes. */
        Rules(String topic, int partitions, int maxBytes, Set<InputPosition> skip) {
            this(topic, partitions, maxBytes, skip, Optional.empty());
        }
    }

    EventDecoder(RecordReader<Event> reader, Rules rules, Health health, ControllerMetrics metrics) {
        this.reader = new PatientReader<>(reader, new WaitsShown(health, metrics));
        this.rules = rules;
        this.health = health;
    }

    private record WaitsShown(Health health, ControllerMetrics metrics) implements PatientReader.Listener {
        @Override
        public void waits(String why) {
            LOG.warn("{}; nothing is skipped", why);
            metrics.registryWait();
            health.waiting(why);
        }

        @Override
        public void goesOn() {
            LOG.warn("no longer waiting for the schema registry");
            health.goesOn();
        }
    }

    /**
     * The input that a record is.
     *
     * @throws io.tierlog.events.UnknownTypeException when a later version wrote it
     * @throws ControllerException.Closing when the instance was closed meanwhile
     */
    Input take(InputPosition position, byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        if (rules.skip().contains(position)) {
            return unreadable(position, SkipReason.OPERATOR, "skipped by the operator of the controller");
        }
        if (value != null && value.length > rules.maxBytes()) {
            return putAside(position, SkipReason.TOO_LARGE, value.length + " bytes, at most " + rules.maxBytes() + " are taken");
        }
        return switch (reader.read(value).orElseThrow(ControllerException.Closing::new)) {
            case Reading.Unreadable<Event> bad -> putAside(position, bad.reason(), bad.detail());
            case Reading.Decoded<Event> good when isTooLong(good.value().envelope()) ->
                putAside(position, SkipReason.TOO_LARGE, "a text of the envelope has more than " + MAX_TEXT + " characters");
            case Reading.Decoded<Event> good -> {
                Optional<String> forged = forged(position, key, Objects.requireNonNull(value), good.value(), headers);
                yield forged.isPresent() ? unreadable(position, SkipReason.FORGED, forged.get())
                        : inPlace(position, key, good.value(), RecordStamp.crc32cOfFramed(value));
            }
        };
    }

    private static boolean isTooLong(Envelope envelope) {
        return Stream.of(envelope.aggregate(), envelope.sender(), envelope.cause(), envelope.traceContext())
                .anyMatch(text -> text != null && text.length() > MAX_TEXT);
    }

    /** Why a record is not by its sender, on health too; empty when it is, or when that is not checked. */
    private Optional<String> forged(InputPosition position, byte @Nullable [] key, byte[] value, Event event, Headers headers) {
        Optional<String> why = rules.signing().map(on -> on.check(event, position.partition(), key, value, headers));
        why.ifPresent(what -> {
            String all = "a forged record from " + shown(event.envelope().sender()) + " at partition " + position.partition() + " offset "
                    + position.offset() + ": " + what;
            forgedWarning.warn("{}; it is in the dead letters, see tierlog audit verify", all);
            health.putAside(all);
        });
        return why.map(what -> shown(event.envelope().sender()) + ": " + what);
    }

    /** Ends every wait. */
    void close() {
        reader.close();
    }

    /** A record counts only under the key and in the partition of its aggregate: elsewhere it would be decided beside other state. */
    private Input inPlace(InputPosition position, byte @Nullable [] key, Event event, int crc32c) {
        String aggregate = event.envelope().aggregate();
        if (!Arrays.equals(key, Partitions.key(aggregate))) {
            return putAside(position, SkipReason.WRONG_KEY, "the key is not the aggregate " + shown(aggregate));
        }
        int home;
        try {
            home = Partitions.of(aggregate, rules.partitions());
        } catch (IllegalArgumentException e) {
            return putAside(position, SkipReason.WRONG_KEY, shown(String.valueOf(e.getMessage())));
        }
        if (home != position.partition()) {
            return putAside(position, SkipReason.WRONG_KEY, shown(aggregate) + " belongs in partition " + home);
        }
        return new Input.Recorded(position.partition(), position.offset(), event, crc32c);
    }

    /** The same, in the log and on health too. */
    private Input.Unreadable putAside(InputPosition position, SkipReason reason, String detail) {
        String all = "the record at partition " + position.partition() + " offset " + position.offset() + " is in the dead letters: " + reason
                + ", " + shown(detail);
        asideWarning.warn("{}", all);
        health.putAside(all);
        return unreadable(position, reason, detail);
    }

    private Input.Unreadable unreadable(InputPosition position, SkipReason reason, String detail) {
        return new Input.Unreadable(rules.topic(), position.partition(), position.offset(), reason, detail);
    }

    /** Text from a record, short enough for a decision. */
    private static String shown(String text) {
        return text.length() <= 200 ? text : text.substring(0, 200) + "...";
    }
}
