package io.holdfast.examples.nightly;

/** What a customer owes at night, and what is left of the limit. */
record Statement(String customer, long balance, long headroom) {}
