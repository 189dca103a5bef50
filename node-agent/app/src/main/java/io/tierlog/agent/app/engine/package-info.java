/* SPDX-License-Identifier: Apache-2.0 */
/** The engine door: gRPC calls to inputs of the core, and what the core says back to engines. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.engine;
