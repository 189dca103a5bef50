/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

import io.tierlog.schemas.event.Message;

/**
 * A message on its way to another aggregate.
 *
 * @param partition partition of the receiver; {@link #BY_NAME} for the one that the receiver's name has as a Kafka key
 * @param message the message; its envelope names the receiver
 */
public record Outgoing(int partition, Message message) {
    /** The partition of the receiver's name. */
    public static final int BY_NAME = -1;
}
