/* SPDX-License-Identifier: Apache-2.0 */
/** Tests that hold the documents of the project: their length, their links, their commands and the names they use. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.cli.docs;
