/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.event;

/** The end of a load to the device: engine and agent agree on it between themselves, and the log receives it afterwards. */
public sealed interface LoadBackEvent extends TerminalEvent
        permits LoadBackDone, LoadBackFailed {
    /** Request that loaded; empty text for a read without a request. */
    String request();

    /** Attempt of that request. */
    int attempt();
}
