/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.exception.NotModifiedException;
import com.github.dockerjava.api.model.ContainerNetwork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.output.OutputFrame;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.utility.DockerImageName;

/**
 * One container of the cluster: a broker, the registry, or a part of Tierlog. It can be killed as by {@code kill -9} and started again, with its
 * files and addresses as they were. Killing and starting is for one thread.
 */
final class Part implements AutoCloseable {
    private static final int STOP_SECONDS = 20;
    private static final Duration READY = Duration.ofSeconds(180);

    private final String name;
    private final Network network;
    private final GenericContainer<?> container;
    private final PartOutput output;
    private int starts = 1;

    /**
     * A container that is not started yet.
     *
     * @param readyText a line of its output with this text says that it is ready
     */
    Part(String name, DockerImageName image, Network network, String readyText, Consumer<GenericContainer<?>> settings) {
        this.name = name;
        this.network = network;
        this.output = new PartOutput(readyText);
        this.container = new GenericContainer<>(image).withNetwork(network).withNetworkAliases(name)
                .waitingFor(new NotAtOnce()).withLogConsumer(this::follow);
        settings.accept(container);
    }

    /** Parts wait for each other, so all are started before the first is ready. */
    private static final class NotAtOnce extends AbstractWaitStrategy {
        @Override
        protected void waitUntilReady() {}
    }

    private void follow(OutputFrame frame) {
        output.add(frame.getUtf8String());
    }

    String name() {
        return name;
    }

    /** Starts the container; it may not be ready yet. */
    void begin() {
        container.start();
    }

    /** Waits until it is ready since its last start. */
    void awaitReady() {
        if (!Until.within(READY, () -> output.ready() >= starts || !isRunning()) || output.ready() < starts) {
            throw new IllegalStateException(name + " did not become ready; its last lines:\n" + output.tail());
        }
    }

    /** The port of this machine behind a port of the container. */
    int port(int inner) {
        return container.getMappedPort(inner);
    }

    boolean isRunning() {
        InspectContainerResponse.ContainerState state = client().inspectContainerCmd(container.getContainerId()).exec().getState();
        return Boolean.TRUE.equals(state.getRunning());
    }

    /** Ends its process as {@code kill -9} does, and returns when it is gone. */
    void kill() {
        client().killContainerCmd(container.getContainerId()).withSignal("KILL").exec();
        Until.holds(name + " is gone", () -> !isRunning());
    }

    /** Starts what was killed. */
    void startAgain() {
        try {
            client().startContainerCmd(container.getContainerId()).exec();
        } catch (NotModifiedException e) {
            throw new IllegalStateException(name + " still runs", e);
        }
        // The reader of its output has ended with the container. A new one reads all of it once more, from the first start on.
        starts++;
        output.clear();
        container.followOutput(this::follow);
    }

    /** Stops the processes where they are. */
    void freeze() {
        client().pauseContainerCmd(container.getContainerId()).exec();
    }

    /** Lets frozen processes go on. */
    void thaw() {
        client().unpauseContainerCmd(container.getContainerId()).exec();
    }

    /** Takes its network away, in both directions; connections that are open hang. */
    void cutOff() {
        client().disconnectFromNetworkCmd().withContainerId(container.getContainerId()).withNetworkId(network.getId()).withForce(true).exec();
    }

    /** Gives the network back, under the same name. */
    void connect() {
        client().connectToNetworkCmd().withContainerId(container.getContainerId()).withNetworkId(network.getId())
                .withContainerNetwork(new ContainerNetwork().withAliases(name)).exec();
    }

    /** Whether this machine can make a container deaf. */
    static boolean canDeafen() {
        return Stream.of("nsenter", "iptables").allMatch(program -> Stream.of("/usr/bin/", "/usr/sbin/", "/sbin/")
                .anyMatch(directory -> Files.isExecutable(Path.of(directory + program))));
    }

    /** Drops all TCP packets that come in, or no longer does. Needs root on the machine of the Docker daemon. */
    void deafen(boolean deaf) {
        Long pid = client().inspectContainerCmd(container.getContainerId()).exec().getState().getPidLong();
        String change = deaf ? "-A" : "-D";
        List<String> command = List.of("nsenter", "-t", String.valueOf(pid), "-n", "iptables", change, "INPUT", "-p", "tcp", "-j", "DROP");
        try {
            int code = new ProcessBuilder(command).inheritIO().start().waitFor();
            if (code != 0) {
                throw new IllegalStateException(String.join(" ", command) + " ended with " + code);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(String.join(" ", command), e);
        }
    }

    /** Asks its process to end, and returns when it has; after 20 s it is killed. */
    void end() {
        client().stopContainerCmd(container.getContainerId()).withTimeout(STOP_SECONDS).exec();
        Until.holds(name + " has ended", () -> !isRunning());
    }

    /** Replaces the container, which has ended, by a new one with the same name and ports, and without its files. */
    void startEmpty() {
        container.stop();
        output.clear();
        starts = 1;
        container.start();
    }

    /** What its authorizer has refused since its first start, when it is a broker. */
    List<String> denials() {
        return output.denials();
    }

    /** Its last lines, for messages. */
    String tail() {
        return output.tail();
    }

    private static DockerClient client() {
        return DockerClientFactory.lazyClient();
    }

    /** Removes the container. */
    @Override
    public void close() {
        container.stop();
    }
}
