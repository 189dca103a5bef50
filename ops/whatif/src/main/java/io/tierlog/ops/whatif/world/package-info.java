/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A cluster in virtual time: the shipped controller core and agent cores, with engines and hardware as models. No bytes, no clock, no threads: the
 * same plan gives the same result.
 */
@NullMarked
package io.tierlog.ops.whatif.world;

import org.jspecify.annotations.NullMarked;
