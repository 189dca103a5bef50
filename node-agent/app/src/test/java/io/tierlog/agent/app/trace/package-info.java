/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of what traces cost when they are off. */
@NullMarked
package io.tierlog.agent.app.trace;

import org.jspecify.annotations.NullMarked;
