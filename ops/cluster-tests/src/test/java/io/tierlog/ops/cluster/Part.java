/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.exception.NotModifiedException;
import com.github.dockerjava.api.model.ContainerNetwork;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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
    private @Nullable SmallDisk disk;

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

    /** Whether this machine can make a container deaf, and its link slow. */
    static boolean canChangeNetworks() {
        return Machine.has("nsenter", "iptables", "ip", "tc") && Machine.runs(
                List.of("nsenter", "-t", String.valueOf(ProcessHandle.current().pid()), "-n", "true"));
    }

    /** Drops all TCP packets that come in, or no longer does. Needs root on the machine of the Docker daemon. */
    void deafen(boolean deaf) {
        inItsNetwork("iptables", deaf ? "-A" : "-D", "INPUT", "-p", "tcp", "-j", "DROP");
    }

    /** Sends at most 64 KiB a second, or no longer so. Needs root on the machine of the Docker daemon. */
    void slowDown(boolean slow) {
        String how = slow ? "add dev $link root tbf rate 512kbit burst 16kb latency 2s" : "del dev $link root";
        // A container that was cut off has its link under another name.
        inItsNetwork("sh", "-c", "link=$(ip -o link | sed -n 's/^[0-9]*: \\([a-z0-9]*\\)@.*/\\1/p') && tc qdisc " + how);
    }

    private void inItsNetwork(String... command) {
        Long pid = client().inspectContainerCmd(container.getContainerId()).exec().getState().getPidLong();
        Machine.run(Stream.concat(Stream.of("nsenter", "-t", String.valueOf(pid), "-n"), Stream.of(command)).toList());
    }

    /** Gives it a disk of its own, which is not part of the container and can be full. Before the first start. */
    void setDisk(SmallDisk disk) {
        this.disk = disk;
    }

    boolean hasDisk() {
        return disk != null;
    }

    /** Leaves no free byte on its disk. */
    void fillDisk() {
        Objects.requireNonNull(disk, name).fill();
    }

    /** Gives back what {@link #fillDisk} took, and starts it again when it has ended meanwhile. */
    void freeDisk() {
        Objects.requireNonNull(disk, name).free();
        if (!isRunning()) {
            startAgain();
        }
    }

    /** Asks its process to end, and returns when it has; after 20 s it is killed. */
    void end() {
        try {
            client().stopContainerCmd(container.getContainerId()).withTimeout(STOP_SECONDS).exec();
        } catch (NotModifiedException e) {
            return; // it has ended by itself
        }
        Until.holds(name + " has ended", () -> !isRunning());
    }

    /** Replaces the container, which has ended, by a new one with the same name and ports, and without its files. */
    void startEmpty() {
        container.stop();
        if (disk != null) {
            disk.clear();
        }
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
