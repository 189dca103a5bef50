/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of options. */
@NullMarked
package io.tierlog.events.config;

import org.jspecify.annotations.NullMarked;
