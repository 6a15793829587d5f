package io.ofi4j.conformance;

/** A trial whose result is worth a sentence where nothing is wrong, too. */
@FunctionalInterface
public interface Observation extends Trial {
    /**
     * Tries it.
     *
     * @return what was seen, such as what a program is told when its peer dies
     * @throws Exception as {@link Trial} says
     */
    String observe(Subject subject) throws Exception;

    @Override
    default void run(Subject subject) throws Exception { observe(subject); }
}
