/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TLS of listeners and calls: PEM files, read again when they change, and what a failed handshake means; calls over HTTP that end. Needs the JDK
 * alone.
 */
@NullMarked
package io.tierlog.tls;

import org.jspecify.annotations.NullMarked;
