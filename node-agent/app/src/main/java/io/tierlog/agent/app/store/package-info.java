/* SPDX-License-Identifier: Apache-2.0 */
/** The shared store: its port, a store in a directory, one in memory, one that goes wrong, and the workers between it and host pages. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.store;
