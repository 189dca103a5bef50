/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

/**
 * No registry gave an answer that can be trusted: not reachable, too slow, an error of its own, or something that is not a registry (a
 * proxy's page, a wrong base URL, refused credentials). The call was already repeated within its bounds. Wait and ask again.
 */
public final class RegistryUnavailableException extends RegistryException {
    private static final long serialVersionUID = 1L;

    private final long retryInMs;

    RegistryUnavailableException(String message, long retryInMs) {
        super(message);
        this.retryInMs = retryInMs;
    }

    /** How long to wait before the next call, in milliseconds. */
    public long retryInMs() {
        return retryInMs;
    }
}
