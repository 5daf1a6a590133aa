package io.holdfast.cli.doctor;

/**
 * What one check has found.
 *
 * @param check the name of the check
 * @param isNeeded whether locks need it; otherwise only an option does, or it is a matter of speed or care
 * @param result whether it works
 * @param found what the server answered
 * @param cost what follows if it does not work
 * @param help what to do then
 */
public record Finding(String check, boolean isNeeded, Result result, String found, String cost, String help) {

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
        return new Finding(check, isNeeded, result, text, cost, help);
    }
}
