/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

/** What a publisher's state leads to. */
public interface PublisherOutput {
    /** Ask for all batches from this number on; an earlier question is over. */
    void askReplay(long from);

    /** The question is over. */
    void endReplay();

    /** A block began to be somewhere, or is there no longer. */
    void changed(String instance, BlockBook.Change change);

    /** The view of an instance has changed. */
    void viewed(String instance, View view);

    /** The publisher speaks for an instance no longer; what the instance had is withdrawn. */
    void closed(String instance);
}
