/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.DevicePins;
import io.tierlog.agent.core.device.DevicePins.Content;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The device pages that an engine keeps for an attempt until the agent releases them: sealed ones and, when the Submit call says so, those it named
 * and loaded ones. Any of them can be written back, whichever request computed it. Without state, for the core's one thread.
 */
final class KeptPages {
    private KeptPages() {}

    /** Why the engine cannot have the named blocks in these pages; empty when it can. */
    static Optional<String> wrong(DevicePins device, Submitted in) {
        return in.onDevice().stream().map(block -> device.whyNot(block.page(), content(in, block))).flatMap(Optional::stream).findFirst();
    }

    private static Content content(Submitted in, DeviceBlock block) {
        return new Content(in.namespace(), block.key(), block.index(), block.generation());
    }

    /** The attempt keeps the pages that its Submit call named. A page that no call named before holds a block from before this agent started. */
    static void submitted(DevicePins device, LiveAttempt attempt) {
        Submitted in = attempt.submitted();
        int taken = in.keys().size();
        List<PagedBlock> unreported = new ArrayList<>();
        Bytes parent = Bytes.EMPTY;
        for (DeviceBlock block : in.onDevice()) {
            PagedBlock paged = new PagedBlock(new Block(block.index(), block.key(), parent), block.page(), block.generation(), 0);
            parent = block.key();
            if (block.index() >= taken) {
                attempt.notTaken().put(block.index(), paged);
            } else {
                attempt.reused().put(block.index(), paged);
                if (device.content(block.page()).isEmpty()) {
                    unreported.add(paged);
                }
            }
            device.remember(block.page(), content(in, block));
        }
        attempt.unreported(List.copyOf(unreported));
    }

    /** The load of an attempt has ended: it keeps what has arrived. */
    static void loaded(LiveAttempt attempt) {
        TransferSession load = attempt.load();
        if (load == null || !attempt.live() || !attempt.submitted().keepsPages()) {
            return;
        }
        for (BlockTransfer item : load.items()) {
            if (item.done()) {
                attempt.reused().put(item.block().index(), new PagedBlock(item.block(), item.devicePage(), item.generation(), 0));
            }
        }
    }

    /** The attempt ends: its name pins what it keeps, as far as it is still there. */
    static void pin(DevicePins device, LiveAttempt attempt) {
        pin(device, attempt, attempt.reused().values());
        pin(device, attempt, attempt.sealed().values());
        pin(device, attempt, attempt.notTaken().values());
    }

    /** Pinned pages of blocks that no write-back comes for: reused ones that serve on the host too, and those that were not taken. */
    static List<Integer> notWritten(AgentContext context, LiveAttempt attempt) {
        List<Integer> saved = new ArrayList<>();
        attempt.notTaken().values().forEach(block -> saved.add(block.page()));
        for (PagedBlock block : attempt.reused().values()) {
            boolean sealed = attempt.sealed().containsKey(block.block().index());
            if (!sealed && context.device().pinnedBy(attempt.finishPin(), block.page())
                    && context.pages().serving(attempt.namespace(), block.block().key()).isPresent()) {
                saved.add(block.page());
            }
        }
        return saved;
    }

    private static void pin(DevicePins device, LiveAttempt attempt, Collection<PagedBlock> blocks) {
        for (PagedBlock block : blocks) {
            if (device.content(block.page()).filter(content -> content.generation() == block.generation()).isPresent()) {
                device.pin(attempt.finishPin(), attempt.owner(), block.page());
            }
        }
    }
}
