/* SPDX-License-Identifier: Apache-2.0 */
/** The engine API: gRPC calls to inputs of the core, and replies of the core to engines. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.engine;
