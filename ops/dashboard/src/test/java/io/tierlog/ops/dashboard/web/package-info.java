/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.ops.dashboard.web;

import org.jspecify.annotations.NullMarked;
