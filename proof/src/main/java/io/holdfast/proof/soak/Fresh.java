package io.holdfast.proof.soak;

/** Names of locks that are used once. What a client or a store keeps for a name shows as growth. */
final class Fresh {

    static final String PREFIX = "fresh-";

    private Fresh() {}

    static String name(String process, long number) {
        return PREFIX + process + "-" + number;
    }
}
