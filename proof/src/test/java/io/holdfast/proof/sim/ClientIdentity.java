package io.holdfast.proof.sim;

import java.util.function.LongSupplier;

/**
 * The name and the random bits of one client. Clients of clones may have the same.
 *
 * @param name the name of its channel at a Redis
 * @param bits the random bits from which it makes its claim ids
 */
record ClientIdentity(String name, LongSupplier bits) {}
