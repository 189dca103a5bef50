/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.sign;

import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.event.AgentEvent;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.event.PeerReadCancelled;
import io.tierlog.schemas.event.PeerReadRequested;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.PromotionRequested;
import io.tierlog.schemas.event.StoreFull;
import io.tierlog.schemas.event.StoreReadStarted;
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
        return switch (event) {
            case Tick tick -> tick.envelope().sender().startsWith(tick.envelope().aggregate() + "/") ? CLOCK : null;
            case Message _ -> MESSAGE;
            case AgentRegistering registering -> ofAgent(registering, nodeOf(registering));
            case AgentEvent report -> ofAgent(report, nodeOf(report));
            // About a shard of the store, or the node that is asked: the record names the node that writes.
            case BlocksStored stored -> ofAgent(stored, stored.node());
            case BlocksMissing missing -> ofAgent(missing, missing.node());
            case StoreReadStarted read -> ofAgent(read, read.node());
            case ObjectsDeleted deleted -> ofAgent(deleted, deleted.node());
            case StoreFull full -> ofAgent(full, full.node());
            case PeerReadRequested read -> ofAgent(read, read.asker());
            case PeerReadCancelled read -> ofAgent(read, read.asker());
            case PromotionRequested asked -> {
                boolean directory = asked.envelope().sender().startsWith(DIRECTORY + "/");
                yield directory ? DIRECTORY : ofAgent(asked, nodeOf(asked));
            }
            case PolicyChangeRequested _, MigrationRequested _, MigrationCancelRequested _, NodeDrainRequested _, MarksClearRequested _ ->
                event.envelope().sender().startsWith(OPERATOR + "/") ? OPERATOR : null;
        };
    }

    /** Key of the agent of that node, when it is the sender. */
    private static @Nullable String ofAgent(Event event, String node) {
        String sender = event.envelope().sender();
        boolean ours = !node.isEmpty() && (sender.equals(AGENT + node) || sender.startsWith(AGENT + node + "/"));
        return ours ? agent(node) : null;
    }

    /** Node that the event is about; empty when it is about something else. */
    private static String nodeOf(Event event) {
        String aggregate = event.envelope().aggregate();
        return aggregate.startsWith(NODE) ? aggregate.substring(NODE.length()) : "";
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
