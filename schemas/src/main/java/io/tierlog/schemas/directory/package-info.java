/* SPDX-License-Identifier: Apache-2.0 */
/** What is published in compacted topics for directories, routers and dashboards. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas.directory;
