/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import io.tierlog.ops.simulation.engine.AgentLink.PageBlock;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** An engine's calls to its agent outside of requests. For one thread. */
public final class Outside {
    private final Engine engine;
    private final Set<String> reserved = new LinkedHashSet<>();

    Outside(Engine engine) {
        this.engine = engine;
    }

    int reservations() {
        return reserved.size();
    }

    /** The session has gone, and the reservations with it. */
    void forget() {
        reserved.clear();
    }

    /** Reads blocks by name into pages of its own, and compares what came. False when it cannot call. */
    public boolean read(String name, Prompt prompt, long waitMs) {
        int blocks = Math.min(prompt.keys().size(), engine.pool().available());
        if (!engine.connected() || blocks == 0) {
            return false;
        }
        String user = "read " + name;
        List<PageBlock> asked = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            int page = engine.pool().take(user);
            asked.add(new PageBlock(i, prompt.keys().get(i), prompt.parent(i), page, engine.pool().generation(page)));
        }
        engine.tellEvicted();
        engine.call(engine.link().read(engine.session(), prompt.namespace(), asked, waitMs), answer -> {
            if (answer instanceof AgentReply.Read read) {
                for (int i = 0; i < asked.size(); i++) {
                    if (read.reasons().get(i).equals("COMPLETED")) {
                        engine.pool().compare(prompt.namespace(), asked.get(i).key(), asked.get(i).page(), "read by name");
                    }
                }
            }
            engine.outcome(name, answer);
            asked.forEach(block -> engine.pool().disuse(block.page(), user));
        });
        return true;
    }

    /** Asks for the places of blocks. */
    public boolean exist(String name, Prompt prompt) {
        if (!engine.connected() || prompt.keys().isEmpty()) {
            return false;
        }
        engine.call(engine.link().exist(engine.session(), prompt), answer -> engine.outcome(name, answer));
        return true;
    }

    /** Reserves blocks on the host for a while. */
    public boolean reserve(Prompt prompt, int blocks, long leaseMs) {
        if (!engine.connected() || blocks == 0) {
            return false;
        }
        engine.call(engine.link().reserve(engine.session(), prompt.namespace(), prompt.keys().subList(0, blocks), leaseMs), answer -> {
            if (answer instanceof AgentReply.Reserved(long ignored, String lease)) {
                reserved.add(lease);
            }
        });
        return true;
    }

    /** Releases the oldest reservation; false when there is none. */
    public boolean giveUp() {
        if (reserved.isEmpty() || !engine.connected()) {
            return false;
        }
        String lease = reserved.iterator().next();
        reserved.remove(lease);
        engine.call(engine.link().giveUp(engine.session(), lease), answer -> {});
        return true;
    }

    static String describe(AgentReply answer) {
        return switch (answer) {
            case AgentReply.Read h -> String.join(",", h.reasons());
            case AgentReply.Saved h -> String.join(",", h.reasons());
            case AgentReply.Found h -> String.join(",", h.where());
            case AgentReply.Refused h -> h.refusal();
            default -> answer.getClass().getSimpleName();
        };
    }
}
