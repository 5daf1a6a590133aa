package io.holdfast.examples.nightly;

/** The balance of a customer at night, and the rest of the limit. */
record Statement(String customer, long balance, long headroom) {}
