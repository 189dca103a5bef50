/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Everything that can go wrong in an episode. The weight says how often, among the kinds that the episode has drawn. */
public enum FaultKind {
    EVENT_DUPLICATED(6, "an event is on the log twice"),
    COMMAND_LOST(4, "a command is never read"),
    COMMAND_DUPLICATED(6, "a command is read once more"),
    COMMAND_LATE(4, "a command is read after later ones, or after the death of its reader"),
    RELAY_REPEATED(3, "the relay repeats its last messages"),
    MESSAGE_REPEATED(3, "a message between aggregates comes once more, much later"),
    MESSAGE_LATE(2, "messages to one partition are carried late"),
    MIGRATION_RECALLED(4, "an operator takes a migration back while its blocks are copied"),
    TRANSACTION_ABORTED(6, "a transaction is undone and its events are decided again; its commands are out"),
    DECIDED_OTHERWISE(2, "a transaction is undone and a core with other bounds decides again: same ids, other content"),
    CONTROLLER_CRASH(3, "the controller dies and is away for a while"),
    ZOMBIE_CONTROLLER(3, "a standby takes over, and the one before goes on sending commands for a while"),
    AGENT_CRASH(1, "an agent dies; some of the writes that were under way have come down"),
    AGENT_CRASH_TORN(8, "an agent dies and leaves torn blocks on its disk"),
    READER_DIED(6, "an agent dies that waits for blocks of another node"),
    AGENT_ZOMBIE(1, "an agent dies and what it had to say reaches the log much later"),
    AGENT_PAUSED(1, "an agent stands still, perhaps until it is declared lost, and goes on"),
    AGENT_STOPPED(1, "an agent is asked to stop"),
    SECOND_PROCESS(2, "a second process wants to speak for a node"),
    WRONG_SENDER(3, "an event comes under the node's incarnation from another process than the one that is registered"),
    COMMAND_FROM_THE_FUTURE(1, "an agent receives a command with a number that was never given out"),
    OUTBOX_CONGESTED(3, "an agent cannot send its events for a while"),
    LOG_LOST(2, "the brokers are away so long that an agent abandons what it has not sent, and goes on as another process"),
    ENGINE_VANISHED(1, "an engine process dies"),
    ENGINE_CLOSED(1, "an engine closes its session in good order and opens another"),
    CALLER_GONE(24, "the caller of a load does not wait for the answer"),
    COPY_FAILED(5, "blocks of a copy from or to the device fail"),
    OUTCOME_UNKNOWN(3, "the outcome of blocks of a copy from or to the device is unknown until much later"),
    BOUNCE_OUTCOME_UNKNOWN(3, "the same of a copy that goes past the host, through a page of the agent's own"),
    DISK_OUTCOME_UNKNOWN(3, "the outcome of reads or writes of the disk is unknown until much later; the bytes move at once, then, or never"),
    STORE_OUTCOME_UNKNOWN(3, "the same of reads and writes of the store"),
    RANK_FAILED(4, "one rank fails its part of a copy"),
    DEVICE_GATED(3, "copies of the device stand still for long"),
    COMPLETION_REPEATED(5, "a completion of a transfer is repeated"),
    HOST_ROTTED(3, "a bit of a page of host memory flips"),
    DISK_SLOW(3, "transfers of the disk stand still for long"),
    DISK_FULL(2, "the disk takes nothing"),
    DISK_FAILED(5, "blocks of a transfer of the disk fail"),
    DISK_WRITE_LOST(3, "the disk reports a write that it has not done"),
    DISK_WRITE_TORN(3, "the disk has written half of a block"),
    DISK_WRITE_MISDIRECTED(3, "the disk has written the bytes of another block"),
    DISK_READ_WRONG(3, "the disk returns the bytes of another block, with their checksum"),
    DISK_READ_OLD(3, "the disk returns a placement of a generation before"),
    DISK_BIT_FLIPPED(3, "a bit on the disk flips"),
    DISK_BLOCK_LOST(3, "a block on the disk is gone"),
    DISK_LOST(1, "an agent dies and its disk comes back empty"),
    STORE_SLOW(3, "transfers of the store stand still for long"),
    STORE_UNREACHABLE(2, "the store does not answer"),
    STORE_FULL(2, "the store takes nothing"),
    STORE_FAILED(5, "blocks of a transfer of the store fail"),
    STORE_WRITE_TORN(3, "the store has half of an object"),
    STORE_BIT_FLIPPED(3, "a bit in the store flips"),
    STORE_OBJECT_LOST(3, "an object of the store is gone"),
    PEER_FAILED(5, "a read from another node breaks off"),
    PEER_WRONG(5, "bytes from another node change on their way"),
    PEER_SLOW(3, "reads from other nodes stand still for long"),
    PEER_UNREACHABLE(2, "the peer API of a node is unreachable"),
    TICK_ABORTED(2, "the transaction of a tick aborts: it has come or not, and the clock goes on under another name"),
    TICKS_AHEAD(1, "the clock that makes ticks is an hour ahead from here on"),
    TICKS_STAND(2, "no tick comes for a while"),
    TICKS_BACK(2, "the clock that makes ticks is behind for a while"),
    AGENT_CLOCK_AHEAD(2, "the wall clocks of the agents are an hour ahead for a while"),
    MONOTONIC_JUMP(2, "the monotonic clock of a node jumps ahead"),
    POLICY_CHANGED(3, "an operator changes the policy"),
    POLICY_INVALID(2, "an operator requests an invalid policy"),
    POLICY_STALE(2, "an operator requests a policy based on an old version");

    private final int weight;
    private final String meaning;

    FaultKind(int weight, String meaning) {
        this.weight = weight;
        this.meaning = meaning;
    }

    /** How often it comes, beside the others. */
    int weight() {
        return weight;
    }

    /** What it is, as a sentence without its end. */
    public String meaning() {
        return meaning;
    }

    /** As a user writes it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The kind of that label. */
    public static Optional<FaultKind> labelled(String label) {
        return Arrays.stream(values()).filter(kind -> kind.label().equals(label)).findFirst();
    }

    /** True for what happens later than it is drawn: it waits for a write or a read, or for the end of an agent's patience. */
    boolean waits() {
        return List.of(AGENT_CRASH_TORN, DISK_WRITE_LOST, DISK_WRITE_TORN, DISK_WRITE_MISDIRECTED, STORE_WRITE_TORN, DISK_READ_WRONG,
                DISK_READ_OLD, LOG_LOST).contains(this);
    }

    /** True for what happens to a unit of work at its end, and not by itself. */
    boolean ofUnits() {
        return List.of(COPY_FAILED, OUTCOME_UNKNOWN, BOUNCE_OUTCOME_UNKNOWN, DISK_OUTCOME_UNKNOWN, STORE_OUTCOME_UNKNOWN, RANK_FAILED,
                DISK_FAILED, STORE_FAILED, PEER_FAILED, PEER_WRONG).contains(this);
    }
}
