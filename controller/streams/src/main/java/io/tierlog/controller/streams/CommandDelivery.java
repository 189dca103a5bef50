/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

/** How commands leave the controller. Either way a command is an intent: it may be lost, repeated or late. */
public enum CommandDelivery {
    /** By a plain producer as soon as they are decided, before the transaction commits. A command can be lost when the process dies. */
    DIRECT,
    /** In the transaction of the decision: readers choose whether to wait for its commit. */
    TRANSACTIONAL
}
