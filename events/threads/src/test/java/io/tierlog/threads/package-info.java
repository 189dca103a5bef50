/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of threads that throw. */
@NullMarked
package io.tierlog.threads;

import org.jspecify.annotations.NullMarked;
