/* SPDX-License-Identifier: Apache-2.0 */
/** Who wrote a record: message authentication codes in a header of each record, and the keys for them. */
@org.jspecify.annotations.NullMarked
package io.tierlog.events.sign;
