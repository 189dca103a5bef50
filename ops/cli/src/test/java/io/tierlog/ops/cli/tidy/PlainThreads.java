/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import java.util.Map;
import java.util.regex.Pattern;

/** Where a service may start a thread that is not supervised: the fault of such a thread ends the process, unless the thread hands it on. */
final class PlainThreads {
    private static final Pattern SERVICE = Pattern.compile("(events|controller|node-agent|ops/dashboard)/(.*/)?src/main/.*\\.java");

    /** A pool whose threads are made by Supervised, in the same statement, is no plain one. */
    private static final String STARTS = "\\bThread\\s*\\.\\s*(ofPlatform|ofVirtual|startVirtualThread)\\b"
            + "|\\bnew\\s+Thread\\s*\\(|\\bextends\\s+Thread\\b"
            + "|\\b(Executors\\s*\\.\\s*new\\w+|new\\s+(Scheduled)?ThreadPoolExecutor)\\s*\\((?![^;]*\\bSupervised\\s*\\.)";

    private static final String AGENT = "node-agent/app/src/main/java/io/tierlog/agent/app/";
    private static final String BRIDGE = "node-agent/bridge/src/main/java/io/tierlog/agent/bridge/";

    /** Files by path, and why each may. */
    static final Map<String, String> MAY = Map.ofEntries(
            Map.entry("events/threads/src/main/java/io/tierlog/threads/Supervised.java", "it is what supervises"),
            Map.entry(AGENT + "AgentApp.java", "ends the agent, and completes its end whatever it meets"),
            Map.entry(AGENT + "DiskWalk.java", "hands each fault to the agent, which ends: half a report is none"),
            Map.entry(AGENT + "Registrations.java", "hands each fault to the agent, which ends"),
            Map.entry(AGENT + "log/CommandSource.java", "hands each fault to the agent, which ends: no command may be left out"),
            Map.entry(AGENT + "loop/AgentLoop.java", "hands each fault to the agent, which ends: its state is not to be trusted"),
            Map.entry(AGENT + "memory/CopyLane.java", "a fault between two copies ends the process: bytes may be on their way"),
            Map.entry(AGENT + "memory/EmulatedStream.java", "each copy answers with its fault"),
            Map.entry(BRIDGE + "BridgeApp.java", "hands each fault to the end of the bridge"),
            Map.entry(BRIDGE + "log/DecisionFollower.java", "hands each fault to the end of the bridge: no decision may be left out"),
            Map.entry(BRIDGE + "publish/PublishApp.java", "hands each fault to the end of the publisher"),
            Map.entry(BRIDGE + "publish/ReplayServer.java", "hands each fault to the end of the publisher"),
            Map.entry("ops/dashboard/src/main/java/io/tierlog/ops/dashboard/web/LogWork.java", "hands each fault to the caller, which waits for it"));

    static final Rule RULE = Rule.code(
            "plain thread in a service",
            "start it by Supervised, or list it in PlainThreads with a reason",
            file -> SERVICE.matcher(file.path()).matches() && !MAY.containsKey(file.path()),
            STARTS);

    private PlainThreads() {}

    /** Whether a file starts a plain thread. */
    static boolean startsOne(SourceFile file) {
        return Pattern.compile(STARTS).matcher(file.code()).find();
    }
}
