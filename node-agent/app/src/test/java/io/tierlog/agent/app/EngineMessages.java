/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.SubmitRequest;
import java.util.stream.IntStream;

/** Messages of the engines in tests. */
public final class EngineMessages {
    private EngineMessages() {}

    /** Submits a prompt of that many blocks of two tokens, and one token more. */
    public static SubmitRequest submit(String session, String request, int blocks) {
        SubmitRequest.Builder builder = SubmitRequest.newBuilder()
                .setSession(session).setRequest(request).setAttempt(1).setNamespace(AgentAppTest.NAMESPACE)
                .setPromptTokens(2 * blocks + 1).setBlockTokens(2).setReuseEligible(true);
        IntStream.range(0, blocks).forEach(i -> builder.addKeys(TestEngine.bytes(ScriptedController.key(i))));
        return builder.build();
    }

    /** Loads the first blocks of what is offered to device pages that follow one another. */
    public static LoadRequest load(SubmitRequest submitted, Offer offer, int blocks, int firstPage) {
        LoadRequest.Builder builder = LoadRequest.newBuilder()
                .setSession(submitted.getSession())
                .setRequest(submitted.getRequest())
                .setAttempt(submitted.getAttempt())
                .setNamespace(submitted.getNamespace())
                .setLease(offer.getLease());
        IntStream.range(0, blocks).forEach(i -> builder.addBlocks(page(i, firstPage + i)));
        return builder.build();
    }

    /** A block in a device page. */
    public static BlockPage page(int index, int page) {
        return BlockPage.newBuilder()
                .setIndex(index)
                .setKey(TestEngine.bytes(ScriptedController.key(index)))
                .setPage(page)
                .setGeneration(1)
                .build();
    }
}
