/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

/** A payload is not what any dialect has; it never leaves this package. Without a stack, since input from outside raises it. */
final class MalformedPayloadException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MalformedPayloadException(String reason) {
        super(reason, null, false, false);
    }
}
