/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.Reading;
import io.tierlog.schemas.command.Command;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A node that executes every command during a test, and sends a heartbeat once a second. A thread of its own. */
final class ObedientNode implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(50);
    private static final long BEAT_NS = 1_000_000_000L;

    private final TestLog log;
    private final FakeAgent agent;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "obedient-node");
    private volatile @Nullable RuntimeException failure;

    ObedientNode(TestLog log, FakeAgent agent) {
        this.log = log;
        this.agent = agent;
        thread.start();
    }

    /** Whether it could not go on. */
    boolean failed() {
        return failure != null;
    }

    private void run() {
        try (LogReader<Command> commands = log.reader(log.topics.commands(), Command.class, Isolation.ALL)) {
            long beat = System.nanoTime();
            while (closing.getCount() > 0) {
                commands.poll(POLL, entry -> {
                    if (entry.reading() instanceof Reading.Decoded<Command>(Command command)
                            && command.envelope().aggregate().equals(agent.aggregate)) {
                        agent.on(command).forEach(log::append);
                    }
                });
                if (System.nanoTime() - beat > BEAT_NS) {
                    log.append(agent.heartbeat());
                    beat = System.nanoTime();
                }
            }
        } catch (RuntimeException e) {
            failure = e;
        }
    }

    @Override
    public void close() {
        closing.countDown();
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
