package io.holdfast.proof.soak;

/** Names of locks that are used once. If a client or a back end keeps data for a name, that shows as growth. */
final class Fresh {

    static final String PREFIX = "fresh-";

    private Fresh() {}

    static String name(String process, long number) {
        return PREFIX + process + "-" + number;
    }
}
