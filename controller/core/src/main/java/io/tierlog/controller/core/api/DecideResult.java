/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import java.util.List;

/**
 * What an input leads to.
 *
 * @param facts what is true from here on, in the order in which they are evolved
 * @param commands intents for agents
 * @param messages to other aggregates
 * @param outcome the result for the sender
 */
public record DecideResult(List<Fact> facts, List<Command> commands, List<Outgoing> messages, Outcome outcome) {
    public DecideResult {
        facts = List.copyOf(facts);
        commands = List.copyOf(commands);
        messages = List.copyOf(messages);
    }
}
