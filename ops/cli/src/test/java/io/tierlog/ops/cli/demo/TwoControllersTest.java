/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.AgentApp;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two controllers, each with its directory beside it: one in this process, one the command as it ships, which is killed with {@code kill -9} and
 * started again. Prompts that an agent has computed are looked up through both all the time. Prints the answers that callers received.
 */
@Tag("slow")
class TwoControllersTest {
    private static final int PARTITIONS = 3;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private ChildProcess second(PeerScene scene) throws Exception {
        return scene.own(ChildProcess.service("second", Files.createDirectories(directory.resolve("second")), List.of(
                "controller",
                "--bootstrap-servers", scene.access.bootstrapServers(),
                "--state-dir", directory.resolve("second/state").toString(),
                "--http-port", "0",
                "--api-listen", "none",
                "--directory-listen", "127.0.0.1:0",
                "--directory-grpc-listen", "127.0.0.1:0",
                "--directory-status-listen", "none",
                "--format", "json")));
    }

    private static boolean shared(PeerScene scene) {
        int here = scene.where.streams().indexes();
        return here > 0 && here < PARTITIONS;
    }

    @Test
    void lookupsAreAnsweredByEitherAndGoOnWhileOneIsKilled() throws Exception {
        try (PeerScene scene = new PeerScene(directory)) {
            ChildProcess second = second(scene);
            PromptLookups one = scene.own(new PromptLookups(scene.where.grpcPort()));
            PromptLookups other = scene.own(new PromptLookups(second.awaitReady().path("directoryGrpcPort").asInt()));
            AgentApp a = scene.agent("a", 0);
            assertEquals(0, scene.run("a", a.enginePort()).wrongContent());
            PeerScene.await("a share for each", () -> shared(scene));
            AtomicReference<List<PromptLookups.Prompt>> now = new AtomicReference<>(List.of());
            // A copy that fails on a slow machine, or an agent that was silent for too long, removes blocks later.
            assertTrue(PeerScene.within(60, () -> {
                now.set(PromptLookups.prompts(scene.decisions(), "a"));
                return one.all(now.get()).fresh() && other.all(now.get()).fresh();
            }), () -> "not within 60 s: one: " + one.whyNotFresh(now.get(), scene.decisions())
                    + "\nother: " + other.whyNotFresh(now.get(), scene.decisions()));
            List<PromptLookups.Prompt> prompts = now.get();
            assertTrue(prompts.size() > 10, () -> "prompts: " + prompts.size());

            long killedAt = System.nanoTime();
            second.kill();
            PromptLookups.Answers left = PromptLookups.Answers.NOTHING;
            PromptLookups.Answers gone = PromptLookups.Answers.NOTHING;
            boolean fresh = false;
            while (!fresh) {
                PromptLookups.Answers last = one.all(prompts);
                left = left.plus(last);
                gone = gone.plus(other.all(prompts));
                fresh = last.fresh() && scene.where.streams().indexes() == PARTITIONS;
                assertTrue(System.nanoTime() - killedAt < 60_000_000_000L, () -> "not fresh within 60 s: " + last);
            }
            System.out.printf(Locale.ROOT, "one of two controllers killed: all %d prompts fresh again after %.1f s; the other answered %s%n",
                    prompts.size(), (System.nanoTime() - killedAt) / 1e9, left);
            assertEquals(List.of(0, 0), List.of(left.wrong(), left.failed()), left::toString);
            assertTrue(left.stale() > 0, "a standby says that it is stale: " + left);
            assertTrue(left.right() > 9 * left.unknown(), "answers went on: " + left);
            assertEquals(gone.failed(), left.right() + left.unknown(), "the killed one does not answer; the other was asked for all of it: " + gone);

            // What the one that is left decides is found as well, and by the other once it is back.
            AgentApp b = scene.agent("b", 0);
            assertEquals(0, scene.run("b", b.enginePort()).wrongContent());
            List<PromptLookups.Prompt> later = PromptLookups.prompts(scene.decisions(), "b");
            assertTrue(later.size() > 10, () -> "prompts: " + later.size());
            AtomicReference<PromptLookups.Answers> last = new AtomicReference<>(PromptLookups.Answers.NOTHING);
            assertTrue(PeerScene.within(60, () -> last.updateAndGet(_ -> one.all(later)).fresh()), () -> "what is new, not within 60 s: " + last);
            ChildProcess again = second(scene);
            PromptLookups back = scene.own(new PromptLookups(again.awaitReady().path("directoryGrpcPort").asInt()));
            PeerScene.await("a share for each again", () -> shared(scene));
            PeerScene.await("all prompts from either again", () ->
                    one.all(prompts).fresh() && one.all(later).fresh() && back.all(prompts).fresh() && back.all(later).fresh());
        }
    }
}
