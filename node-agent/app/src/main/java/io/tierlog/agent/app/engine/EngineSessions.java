/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The open sessions, a bounded number of them. Safe for use by several threads. */
final class EngineSessions {
    private final Map<String, EngineSession> sessions = new ConcurrentHashMap<>();
    private final int most;

    EngineSessions(int most) {
        this.most = most;
    }

    /** An id that no other session has or had. */
    String newId(String instance) {
        return instance + "-" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    /** Adds a session; false when there are too many. */
    synchronized boolean add(EngineSession session) {
        return sessions.size() < most && sessions.put(session.id(), session) == null;
    }

    /** Removes a session; false when it was not there any more. */
    boolean remove(EngineSession session) {
        return sessions.remove(session.id(), session);
    }

    @Nullable EngineSession find(String id) {
        return sessions.get(id);
    }

    /** The session of an engine instance, when it has one. */
    @Nullable EngineSession ofInstance(String instance) {
        String begin = instance + "-";
        return sessions.values().stream()
                .filter(session -> session.id().startsWith(begin) && session.id().length() == begin.length() + Long.BYTES * 2)
                .findFirst()
                .orElse(null);
    }

    int size() {
        return sessions.size();
    }

    List<EngineSession> all() {
        return List.copyOf(sessions.values());
    }
}
