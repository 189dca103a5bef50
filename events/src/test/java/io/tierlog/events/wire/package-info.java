/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the package of the same name. */
@NullMarked
package io.tierlog.events.wire;

import org.jspecify.annotations.NullMarked;
