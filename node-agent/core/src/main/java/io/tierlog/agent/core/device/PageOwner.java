/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.device;

/** The attempt of a request for which device pages are pinned. Once it has ended, the engine gets a notice of each page that loses its last pin. */
public final class PageOwner {
    private final String session;
    private final String request;
    private final int attempt;
    private boolean ended;

    /** A live attempt. */
    public PageOwner(String session, String request, int attempt) {
        this.session = session;
        this.request = request;
        this.attempt = attempt;
    }

    /** Session of the engine. */
    public String session() {
        return session;
    }

    /** Id of the request. */
    public String request() {
        return request;
    }

    /** Number of the attempt. */
    public int attempt() {
        return attempt;
    }

    /** True once the attempt has ended. */
    public boolean ended() {
        return ended;
    }

    /** The attempt has ended. */
    public void end() {
        ended = true;
    }
}
