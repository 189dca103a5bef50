/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.events.LogReader;
import io.tierlog.schemas.command.Command;

/** From RequestSubmitted to the PrefetchBlocks that it leads to, as its agent receives it. One thread at a time. */
final class ControllerLane implements Lane {
    private final Environment environment;
    private final Controller controller;
    private final Backlog backlog;
    private final Part part;

    /** @param part {@link Part#AFTER_COMMIT} when agents wait for the commit, {@link Part#FULL} when their hosts are filled first */
    ControllerLane(Environment environment, Controller controller, Part part) {
        this.environment = environment;
        this.controller = controller;
        this.backlog = new Backlog(environment, controller.group(), controller.topics().events());
        this.part = part;
        if (part == Part.AFTER_COMMIT && controller.commands() == CommandDelivery.DIRECT) {
            throw new IllegalArgumentException("a command that is sent directly is never part of a transaction");
        }
    }

    @Override
    public Part part() {
        return part;
    }

    @Override
    public Running open(Arrivals arrivals) throws InterruptedException {
        Application started = controller.startWithAgents();
        LogReader.Isolation isolation = part == Part.AFTER_COMMIT ? LogReader.Isolation.COMMITTED : LogReader.Isolation.ALL;
        Receiver<Command> receiver = new Receiver<>(
                environment.access(),
                environment.codec(),
                new LogReader.Source<>(controller.topics().commands(), Command.class, isolation),
                controller.agents());
        Open open = new Open(started, receiver);
        if (part == Part.FULL) {
            try {
                controller.agents().fill(environment, receiver);
                open.settle();
            } catch (RuntimeException | InterruptedException failure) {
                open.close();
                throw failure;
            }
        }
        controller.agents().countIn(arrivals);
        return open;
    }

    private final class Open implements Running {
        private final Application started;
        private final Receiver<Command> receiver;

        Open(Application started, Receiver<Command> receiver) {
            this.started = started;
            this.receiver = receiver;
        }

        @Override
        public int submit(long number) {
            return controller.submitters().submit(number);
        }

        @Override
        public void settle() throws InterruptedException {
            environment.outbox().flush();
            receiver.check();
            started.check();
            backlog.awaitNone(started);
        }

        @Override
        public void close() {
            receiver.close();
            started.close();
        }
    }
}
