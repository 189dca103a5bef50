/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.sign;

import io.tierlog.events.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.AgentEvent;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.event.Tick;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Names of the keys that records are signed with. What reads a record finds the name in the record itself, and so which key must have signed it.
 *
 * <pre>
 *   events       agent/NODE   an agent, or a bridge for NODE     clock   ticks        operator   the API and the policy command
 *                directory    requests for promotions            message messages, carried on by the relay
 *   commands     command/NODE      decisions   decision/NODE about a node, else decision
 *   placements   placement         messages    message
 * </pre>
 *
 * <p>The names with a node keep an agent from reading or writing for another one. Static and without state.
 */
public final class KeyNames {
    /** Ticks. */
    public static final String CLOCK = "clock";

    /** Requests of operators. */
    public static final String OPERATOR = "operator";

    /** Requests of directories. */
    public static final String DIRECTORY = "directory";

    /** Placements. */
    public static final String PLACEMENT = "placement";

    private static final String NODE = "node/";
    private static final String AGENT = "agent/";
    private static final String COMMAND = "command/";
    private static final String DECISION = "decision";
    private static final String MESSAGE = "message";

    private KeyNames() {}

    /** Signs the events of a node. */
    public static String agent(String node) {
        return AGENT + node;
    }

    /** All that an agent, or a bridge for this node, needs: to sign events, and to check commands and the decisions about its node. */
    public static List<String> ofNode(String node) {
        return List.of(agent(node), COMMAND + node, DECISION + "/" + node);
    }

    /** Which key must have signed an event; null when its sender may not write it. */
    static @Nullable String ofEvent(Event event) {
        Envelope envelope = event.envelope();
        String sender = envelope.sender();
        if (event instanceof Tick) {
            return sender.startsWith(envelope.aggregate() + "/") ? CLOCK : null;
        }
        if (event instanceof Message) {
            return MESSAGE;
        }
        if (sender.startsWith(AGENT)) {
            int end = sender.indexOf('/', AGENT.length());
            String node = end < 0 ? "" : sender.substring(AGENT.length(), end);
            return !node.isEmpty() && envelope.aggregate().equals(NODE + node) ? agent(node) : null;
        }
        if (event instanceof AgentEvent) {
            return null;
        }
        if (sender.startsWith(OPERATOR + "/")) {
            return OPERATOR;
        }
        return sender.startsWith(DIRECTORY + "/") ? DIRECTORY : null;
    }

    /** Which key signs what a controller writes by itself; null when nothing in the topic is signed. */
    public static @Nullable String ofController(Topics topics, String topic, byte @Nullable [] key) {
        if (topic.equals(topics.commands())) {
            return COMMAND + node(key);
        }
        if (topic.equals(topics.decisions())) {
            String node = node(key);
            return node.isEmpty() ? DECISION : DECISION + "/" + node;
        }
        if (topic.equals(topics.placements())) {
            return PLACEMENT;
        }
        return topic.equals(topics.messages()) ? MESSAGE : null;
    }

    /** Node of a record's key; empty when it is not about a node. */
    static String node(byte @Nullable [] key) {
        String aggregate = key == null ? "" : new String(key, StandardCharsets.UTF_8);
        return aggregate.startsWith(NODE) ? aggregate.substring(NODE.length()) : "";
    }
}
