/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the package of the same name. */
@NullMarked
package io.tierlog.events.registry;

import org.jspecify.annotations.NullMarked;
