/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.event.Message;

/**
 * A message on its way to another aggregate.
 *
 * @param partition partition of the receiver
 * @param message the message; its envelope names the receiver
 */
public record Outgoing(int partition, Message message) {}
