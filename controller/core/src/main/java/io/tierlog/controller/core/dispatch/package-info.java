/* SPDX-License-Identifier: Apache-2.0 */
/** The entry of decide: which decision an input belongs to, and what follows once its facts are in the tables. */
@NullMarked
package io.tierlog.controller.core.dispatch;

import org.jspecify.annotations.NullMarked;
