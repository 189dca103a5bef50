/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.agent.bridge.publish;

import org.jspecify.annotations.NullMarked;
