package io.ofi4j.model;

/**
 * What random programs have done. Each token comes back once: {@code tokens} is what the other three come to.
 *
 * @param posts how many operations were accepted
 * @param tokens of how many the token must come back: of those that are no inject and whose success is told
 * @param completions how many of these tokens came with success
 * @param failures how many of these tokens came with an error
 * @param dropped how many of these tokens were on a queue that was closed with them
 */
record ModelTally(long posts, long tokens, long completions, long failures, long dropped) {
    static final ModelTally NOTHING = new ModelTally(0, 0, 0, 0, 0);

    ModelTally plus(ModelTally other) {
        return new ModelTally(posts + other.posts, tokens + other.tokens, completions + other.completions,
                failures + other.failures, dropped + other.dropped);
    }
}
