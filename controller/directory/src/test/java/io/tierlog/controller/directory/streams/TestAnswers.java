/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import java.util.List;

/** Answers for tests. */
public final class TestAnswers {
    private TestAnswers() {}

    /** Fresh ones. */
    public static KeyAnswers of(KeyQuery question, List<Found> found) {
        KeyAnswers answers = new KeyAnswers(question);
        for (int i = 0; i < found.size(); i++) {
            answers.put(i, found.get(i));
        }
        return answers;
    }
}
