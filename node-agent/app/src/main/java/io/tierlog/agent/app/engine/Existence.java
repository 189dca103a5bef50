/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.tierlog.agent.core.port.EngineReplies.StoreAnswer;
import io.tierlog.engine.v1.ExistReply;
import io.tierlog.engine.v1.Whereabouts;

/** Where blocks are, as the engine API reports it. Static and without state. */
final class Existence {
    private Existence() {}

    static ExistReply encode(Answer.Found found) {
        ExistReply.Builder reply = ExistReply.newBuilder();
        found.blocks().forEach(block -> reply.addBlocks(
                Whereabouts.newBuilder().setHost(block.host()).setDisk(block.disk()).setStore(store(block.store()))));
        return reply.build();
    }

    private static Whereabouts.Store store(StoreAnswer answer) {
        return switch (answer) {
            case PRESENT -> Whereabouts.Store.STORE_PRESENT;
            case ABSENT -> Whereabouts.Store.STORE_ABSENT;
            case UNKNOWN -> Whereabouts.Store.STORE_UNKNOWN;
            case UNREACHABLE -> Whereabouts.Store.STORE_UNREACHABLE;
        };
    }
}
