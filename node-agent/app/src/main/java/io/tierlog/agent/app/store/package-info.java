/* SPDX-License-Identifier: Apache-2.0 */
/** The shared store: its port, stores in a directory, in S3 and in Redis, one that goes wrong, and the workers between it and host pages. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.store;
