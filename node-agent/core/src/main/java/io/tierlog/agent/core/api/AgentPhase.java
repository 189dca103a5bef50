/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.api;

/**
 * The life of an agent process.
 *
 * <pre>
 *   UNREGISTERED --> ON_LOG --> STOPPING --> STOPPED
 *        |              +-----> FENCED -------^
 *        +------------------------------------+
 * </pre>
 */
public enum AgentPhase {
    /** Not accepted yet: engines are answered with what is here, no command is run. */
    UNREGISTERED,
    /** Accepted: commands are run. */
    ON_LOG,
    /** Asked to stop: no new work, transfers end, then goodbye. */
    STOPPING,
    /** Another process speaks for the node: no new work, transfers end, no goodbye. */
    FENCED,
    /** Nothing moves any more; the process may exit. */
    STOPPED;

    /** Whether an agent may go from this phase to {@code next}. */
    public boolean mayBecome(AgentPhase next) {
        return switch (this) {
            case UNREGISTERED -> next == ON_LOG || next == STOPPED;
            case ON_LOG -> next == STOPPING || next == FENCED;
            case STOPPING, FENCED -> next == STOPPED;
            case STOPPED -> false;
        };
    }
}
