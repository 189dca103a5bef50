/* SPDX-License-Identifier: Apache-2.0 */
/** Tests. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.engine;
