/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.agent.bridge.lmcache;

import org.jspecify.annotations.NullMarked;
