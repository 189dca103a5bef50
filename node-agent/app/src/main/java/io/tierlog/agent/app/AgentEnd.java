/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

/**
 * How an agent ended.
 *
 * @param kind what happened
 * @param detail a sentence for people
 */
public record AgentEnd(Kind kind, String detail) {
    /** The closed list of ends. */
    public enum Kind {
        /** It was asked to. */
        STOPPED,
        /** Another process speaks for the node. */
        FENCED,
        /** The controller refused the registration; another try needs another configuration, or the end of the other process. */
        REFUSED,
        /** Something the agent cannot live without has failed. */
        FAILED
    }
}
