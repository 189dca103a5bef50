/* SPDX-License-Identifier: Apache-2.0 */
/** The pages: what they show as JSON, the stream of changes, the files of the browser side. */
@NullMarked
package io.tierlog.ops.dashboard.web;

import org.jspecify.annotations.NullMarked;
