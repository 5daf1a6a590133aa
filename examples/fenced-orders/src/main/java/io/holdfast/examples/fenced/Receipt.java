package io.holdfast.examples.fenced;

/**
 * What was sold.
 *
 * @param token of the lease under which it was sold
 */
record Receipt(String id, String item, int quantity, long token) {}
