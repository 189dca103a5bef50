/* SPDX-License-Identifier: Apache-2.0 */
/** The bytes of a record on the wire: the Confluent frame around Avro binary. Knows no schema and no registry. */
@NullMarked
package io.tierlog.events.wire;

import org.jspecify.annotations.NullMarked;
