/* SPDX-License-Identifier: Apache-2.0 */
/** Options of the programs: declared once as a Kafka {@code ConfigDef}, parsed, checked, and shown. */
@NullMarked
package io.tierlog.events.config;

import org.jspecify.annotations.NullMarked;
