/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.api;

/**
 * The phases of an agent process.
 *
 * <pre>
 *   UNREGISTERED --> ON_LOG --> STOPPING --> STOPPED
 *        ^  |           | |                   ^
 *        |  |           | +---> FENCED -------+
 *        |  |           v
 *        +--|------ REJOINING ---> STOPPING
 *           +---------------------> STOPPING
 * </pre>
 */
public enum AgentPhase {
    /** Not accepted yet: engines are answered with what is here, no command is run. */
    UNREGISTERED,
    /** Accepted: commands are run. */
    ON_LOG,
    /** Its epoch has ended, and no other process speaks for the node: the transfers of that epoch end without a report, then it registers again. */
    REJOINING,
    /** Asked to stop: no new work, transfers end, then goodbye. */
    STOPPING,
    /** Another process speaks for the node: no new work, transfers end, no goodbye. */
    FENCED,
    /** No byte moves; the process may exit. */
    STOPPED;

    /** Whether an agent may change from this phase to {@code next}. */
    public boolean mayBecome(AgentPhase next) {
        return switch (this) {
            case UNREGISTERED -> next == ON_LOG || next == STOPPING;
            case ON_LOG -> next == STOPPING || next == FENCED || next == REJOINING;
            case REJOINING -> next == UNREGISTERED || next == STOPPING;
            case STOPPING, FENCED -> next == STOPPED;
            case STOPPED -> false;
        };
    }
}
