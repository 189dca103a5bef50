/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.acl;

/** Which part of Tierlog a Kafka principal is. A principal that is several parts gets the ACLs of each. */
public enum AccessRole {
    /** A controller without a directory beside it; one that has it is a {@link #DIRECTORY} too. */
    CONTROLLER("decides, ticks and relays"),
    /** An agent or a bridge. */
    AGENT("reports events of its node and follows its commands"),
    /** A directory. */
    DIRECTORY("answers where blocks are, and asks for promotions"),
    /** {@code tierlog bridge publish}. */
    PUBLISHER("publishes placements as an engine's events"),
    /** The policy commands; operators who use the HTTP API need nothing in Kafka. */
    OPERATOR("changes the policy"),
    /** Audits. */
    AUDITOR("reads the log and writes nothing"),
    /** {@code tierlog log sign}. */
    SIGNER("signs the heads of the log"),
    /** The live page. */
    DASHBOARD("reads the log and keeps a changelog of its own"),
    /** {@code tierlog topics create}. */
    SETUP("makes the topics");

    private final String does;

    AccessRole(String does) {
        this.does = does;
    }

    /** What the part does, for people. */
    public String does() {
        return does;
    }
}
