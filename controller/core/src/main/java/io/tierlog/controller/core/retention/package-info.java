/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which blocks of a full tier leave first: retention policies as pure objects, and the prefix tree of a tier that they decide about.
 *
 * <p>A policy knows no clock, no thread and no chance: time comes with each use. It never holds more than a bound that follows from the
 * capacity, and an event costs it at most the logarithm of that bound, amortised.
 */
@NullMarked
package io.tierlog.controller.core.retention;

import org.jspecify.annotations.NullMarked;
