/* SPDX-License-Identifier: Apache-2.0 */
/** Which schema an id names: the port, a client of registries that speak Confluent's REST API, and ids of the schemas in the jar. */
@NullMarked
package io.tierlog.events.registry;

import org.jspecify.annotations.NullMarked;
