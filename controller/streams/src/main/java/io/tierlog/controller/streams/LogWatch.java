/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.streams.api.LogLoop;
import io.tierlog.events.Causes;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.threads.RareWarning;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks every ten seconds, and every half second until all partitions are opened, whether the log is still as it must be: its topics exist
 * with the same number of partitions, it names this controller, and there is space for it and for the state. What is wrong with the topics is
 * shown at {@code /health} until it is right again; a log that another controller decides ends the instance, and so does Kafka Streams when it
 * stands still. One thread of its own.
 */
final class LogWatch implements LogLoop.Round, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LogWatch.class);
    private static final String NOT_WATCHED = "the log is not watched for now: {}";
    private static final long INTERVAL_MS = 10_000;

    /** Two controllers that open the same new log at once must notice it soon. */
    private static final long UNOPENED_MS = 500;

    private final KafkaAccess access;
    private final Topics topics;
    private final LogOwner owner;
    private final Health health;
    private final FreeSpace space;
    private final Standstill standstill;
    private final Consumer<ControllerException> fatal;
    private final long intervalMs;
    private final RareWarning warning = new RareWarning(LOG);
    private final LogLoop loop = new LogLoop("tierlog-log-watch", this);
    private String wrong = "";

    LogWatch(KafkaAccess access, Topics topics, LogOwner owner, Health health, FreeSpace space, Standstill standstill,
            Consumer<ControllerException> fatal) {
        this(access, topics, owner, health, space, standstill, fatal, INTERVAL_MS);
    }

    /** For tests: with another interval, in ms. */
    LogWatch(KafkaAccess access, Topics topics, LogOwner owner, Health health, FreeSpace space, Standstill standstill,
            Consumer<ControllerException> fatal, long intervalMs) {
        this.access = access;
        this.topics = topics;
        this.owner = owner;
        this.health = health;
        this.space = space;
        this.standstill = standstill;
        this.fatal = fatal;
        this.intervalMs = intervalMs;
    }

    void start() {
        loop.start();
    }

    @Override
    public void close() {
        loop.close();
    }

    /** How it is: it makes progress while the brokers answer. */
    HealthParts.State state() {
        return loop.state("the brokers have not answered what they hold");
    }

    @Override
    public void run(LogLoop its) {
        while (its.isOpen()) {
            boolean unopened = look();
            its.pause(unopened ? Math.min(intervalMs, UNOPENED_MS) : intervalMs);
        }
    }

    /** A cluster that does not answer is no finding: others report it. */
    @Override
    public void failed(Throwable why) {}

    /** True when the log is well and some of its partitions have no decision yet. */
    private boolean look() {
        space.lookAtState();
        try (TopicAdmin admin = new TopicAdmin(access)) {
            space.lookAtLog(admin);
            admin.check(topics);
            wrong = "";
            health.logIsWell();
            loop.progressed();
            standstill.look().ifPresent(what -> fatal.accept(new ControllerException.StoodStill(what)));
            return !owner.isOurs();
        } catch (LogSetupException.TopicsMissing | LogSetupException.PartitionsDiffer e) {
            logIsWrong(String.valueOf(e.getMessage()));
            loop.progressed();
        } catch (LogSetupException e) {
            loop.failing(String.valueOf(e.getMessage()));
            warning.warn(NOT_WATCHED, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            if (e instanceof ControllerException wrong && !(e instanceof ControllerException.RegistryUnreachable)) {
                fatal.accept(wrong);
            } else {
                loop.failing(Causes.of(e));
                warning.warn(NOT_WATCHED, Causes.of(e));
            }
        }
        return false;
    }

    private void logIsWrong(String what) {
        if (!what.equals(wrong)) {
            LOG.warn("{}", what);
        }
        wrong = what;
        health.logIsWrong(what);
    }
}
