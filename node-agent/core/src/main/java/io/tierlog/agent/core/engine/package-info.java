/* SPDX-License-Identifier: Apache-2.0 */
/** Engine sessions and what is checked of each call by itself. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.engine;
