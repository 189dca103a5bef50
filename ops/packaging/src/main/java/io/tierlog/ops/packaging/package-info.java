/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of what is installed: the chart, the compose file, the systemd unit and the directory of the release. */
@NullMarked
package io.tierlog.ops.packaging;

import org.jspecify.annotations.NullMarked;
