package io.holdfast.cli.doctor;

/**
 * What one check has found.
 *
 * @param check the check
 * @param result whether it works
 * @param found what the server answered
 */
public record Finding(Check check, Result result, String found) {

    /** The results, from good to bad. */
    public enum Result {
        /** It works. */
        WORKS("works"),
        /** The server did not say. */
        UNKNOWN("unknown"),
        /** It does not work, or the server answered with an error, or not in time. */
        FAILS("does not work");

        private final String word;

        Result(String word) {
            this.word = word;
        }

        /** {@return the result in plain words} */
        public String word() {
            return word;
        }
    }

    /**
     * Replaces what was found.
     *
     * @param text the new text
     * @return a copy
     */
    public Finding withFound(String text) {
        return new Finding(check, result, text);
    }
}
