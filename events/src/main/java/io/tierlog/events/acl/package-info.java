/* SPDX-License-Identifier: Apache-2.0 */
/** What each part of Tierlog may do on a Kafka cluster with an authorizer. */
@NullMarked
package io.tierlog.events.acl;

import org.jspecify.annotations.NullMarked;
