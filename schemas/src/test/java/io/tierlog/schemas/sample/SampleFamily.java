/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.sample;

import io.tierlog.schemas.WireRecord;

/** A family for tests, with a family inside. */
public sealed interface SampleFamily extends WireRecord permits EveryType, SampleFamily.Inner {
    /** The family inside. */
    sealed interface Inner extends SampleFamily permits InnerSample {}
}
