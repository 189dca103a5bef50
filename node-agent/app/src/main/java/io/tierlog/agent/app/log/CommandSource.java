/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.log;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.CommandReceived;
import io.tierlog.controller.http.RecentFinding;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Partitions;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.registry.RegistryUnavailableException;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.command.Command;
import io.tierlog.threads.RareWarning;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commands to this node: the one partition they are in, from its end as it was when this was made, other nodes' left out.
 *
 * <p>By default they are read before the controller's transaction commits; a command that comes from an aborted one costs work, never
 * correctness. A record that cannot be read, or is forged, goes to the dead letters; its operation becomes overdue, is cancelled, and ends so. One
 * thread of its own. Trade-off: no consumer group, so a partition's other commands are read and thrown away.
 */
public final class CommandSource implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CommandSource.class);
    private static final Duration POLL = Duration.ofSeconds(1);

    /** Takes an input of the log, waiting for space; false when the loop has ended. */
    public interface Inbox {
        boolean put(AgentInput input) throws InterruptedException;
    }

    private final AgentLog log;
    private final TopicPartition partition;
    private final byte[] key;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final RecordReader<Command> reader;
    private final DeadLetters deadLetters;
    private final Inbox inbox;
    private final Consumer<Throwable> fatal;
    private final AtomicBoolean reading = new AtomicBoolean(true);
    private final LongAdder unreadable = new LongAdder();
    private final LongAdder forged = new LongAdder();
    private final RareWarning forgedWarning = new RareWarning(LOG);
    private final RareWarning registryWarning = new RareWarning(LOG);
    private final Thread thread;
    private volatile boolean closed;
    private final RecentFinding aside = new RecentFinding();
    /** When it last asked for records; 0 before it reads. */
    private volatile long polledNs;

    /**
     * Stands at the end of the commands; reads nothing before {@link #start}.
     *
     * @param committedOnly whether to wait for the controller's commit
     * @param fatal receives the refusal of a cluster that refuses to be read
     */
    public CommandSource(AgentLog log, boolean committedOnly, DeadLetters deadLetters, Inbox inbox, Consumer<Throwable> fatal) {
        this.log = log;
        this.partition = log.partitionIn(log.topics().commands());
        this.key = Partitions.key(log.aggregate());
        this.reader = log.codec().reader(Command.class);
        this.deadLetters = deadLetters;
        this.inbox = inbox;
        this.fatal = fatal;
        this.consumer = log.atTheEndOf(partition, committedOnly);
        this.thread = Thread.ofPlatform().name("agent-" + log.node() + "-commands").daemon().unstarted(this::run);
    }

    /** Begins to read, from the end as it was at construction. */
    public void start() {
        thread.start();
    }

    /** Records for this node that could not be read, count. */
    public long unreadable() {
        return unreadable.sum();
    }

    /** Commands to this node that no controller with our keys wrote, count. */
    public long forged() {
        return forged.sum();
    }

    /** The last record that went to the dead letters. */
    public RecentFinding putAside() {
        return aside;
    }

    /** How long it has not asked for records, ms, because one waits for space or for the registry; 0 while it does not read. */
    public long silentMs() {
        long polled = polledNs;
        return polled == 0 || closed ? 0 : (System.nanoTime() - polled) / 1_000_000;
    }

    /** Ends the reading. */
    @Override
    public void close() {
        closed = true;
        if (thread.getState() == Thread.State.NEW) {
            consumer.close(KafkaAccess.AT_ONCE);
            return;
        }
        // The wakeup ends a poll, the interrupt a wait for space or for the registry.
        consumer.wakeup();
        synchronized (reading) {
            if (reading.get()) {
                thread.interrupt();
            }
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            boolean wanted = true;
            while (wanted && !closed) {
                polledNs = System.nanoTime();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    wanted = wanted && !closed && take(record);
                }
            }
        } catch (WakeupException | InterruptException | InterruptedException e) {
            if (!closed) {
                fatal.accept(new IllegalStateException("the reader of the commands was interrupted", e));
            }
        } catch (RuntimeException | Error e) {
            if (!closed) {
                fatal.accept(new IllegalStateException("commands cannot be read from " + partition + ": " + e.getMessage(), e));
            }
        } finally {
            // A consumer does not close under an interrupt: from here on none comes, and one that came has done its work.
            synchronized (reading) {
                reading.set(false);
                boolean _ = Thread.interrupted();
            }
            consumer.close(KafkaAccess.AT_ONCE);
        }
    }

    private boolean take(ConsumerRecord<byte[], byte[]> record) throws InterruptedException {
        if (!Arrays.equals(key, record.key())) {
            return true;
        }
        Optional<String> forged = log.access().signing()
                .map(on -> on.check(record.topic(), record.partition(), record.key(), record.value(), record.headers()));
        if (forged.isPresent()) {
            this.forged.increment();
            String what = at(record) + " is refused, no controller with our keys wrote it: " + forged.get();
            forgedWarning.warn("{}", what);
            aside.found(what);
            deadLetters.send(record, SkipReason.FORGED, forged.get());
            return true;
        }
        return switch (read(record)) {
            case Reading.Decoded<Command> decoded -> inbox.put(new CommandReceived(decoded.value()));
            case Reading.Unreadable<Command> bad -> {
                unreadable.increment();
                String what = at(record) + " cannot be read: " + bad.detail() + " (" + bad.reason() + ")";
                LOG.warn("{}", what);
                aside.found(what);
                deadLetters.send(record, bad.reason(), bad.detail());
                yield true;
            }
        };
    }

    private String at(ConsumerRecord<byte[], byte[]> record) {
        return "command at " + partition + " offset " + record.offset();
    }

    private Reading<Command> read(ConsumerRecord<byte[], byte[]> record) throws InterruptedException {
        while (true) {
            try {
                return reader.read(record.value());
            } catch (RegistryUnavailableException e) {
                // Unreadable is not unreachable: the record waits, and so do those behind it.
                registryWarning.warn("{} waits for the registry: {}", at(record), String.valueOf(e.getMessage()));
                Thread.sleep(Math.max(1, e.retryInMs()));
            } catch (UnknownTypeException e) {
                return new Reading.Unreadable<>(SkipReason.MALFORMED, String.valueOf(e.getMessage()));
            }
        }
    }
}
