package io.holdfast.proof.sim;

import java.util.function.LongSupplier;

/**
 * What distinguishes a client from all others.
 *
 * @param name the name of its channel at a Redis
 * @param bits the random bits from which it makes its claim ids
 */
record ClientIdentity(String name, LongSupplier bits) {}
