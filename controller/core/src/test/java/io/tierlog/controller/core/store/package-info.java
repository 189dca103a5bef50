/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.controller.core.store;

import org.jspecify.annotations.NullMarked;
