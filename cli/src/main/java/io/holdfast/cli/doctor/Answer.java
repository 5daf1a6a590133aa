package io.holdfast.cli.doctor;

/** What a server has answered to the question of a check. */
record Answer(Finding.Result result, String found) {

    static Answer works(String found) {
        return new Answer(Finding.Result.WORKS, found);
    }

    static Answer fails(String found) {
        return new Answer(Finding.Result.FAILS, found);
    }

    static Answer unknown(String found) {
        return new Answer(Finding.Result.UNKNOWN, found);
    }

    static Answer is(boolean isGood, String found) {
        return isGood ? works(found) : fails(found);
    }
}
