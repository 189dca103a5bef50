/* SPDX-License-Identifier: Apache-2.0 */
/** The calls of engines after Submit: prefilled, sealed, finished, load, read, exist, reserve and save. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.call;
