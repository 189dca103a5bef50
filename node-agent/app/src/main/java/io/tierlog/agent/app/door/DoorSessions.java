/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.door;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The open sessions, a bounded number of them. Safe for use by several threads. */
final class DoorSessions {
    private final Map<String, DoorSession> sessions = new ConcurrentHashMap<>();
    private final int most;

    DoorSessions(int most) {
        this.most = most;
    }

    /** An id that no other session has or had. */
    String newId(String instance) {
        return instance + "-" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    /** Adds a session; false when there are too many. */
    synchronized boolean add(DoorSession session) {
        return sessions.size() < most && sessions.put(session.id(), session) == null;
    }

    /** Removes a session; false when it was not there any more. */
    boolean remove(DoorSession session) {
        return sessions.remove(session.id(), session);
    }

    @Nullable DoorSession find(String id) {
        return sessions.get(id);
    }

    List<DoorSession> all() {
        return List.copyOf(sessions.values());
    }
}
