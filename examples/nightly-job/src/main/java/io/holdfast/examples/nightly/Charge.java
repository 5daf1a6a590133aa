package io.holdfast.examples.nightly;

import io.vertx.core.json.JsonObject;

/**
 * What was charged. The token names it: no two leases of a customer's lock have the same.
 *
 * @param balance after it
 */
record Charge(String customer, long token, long amount, long balance) {

    JsonObject toJson() {
        return new JsonObject()
                .put("customer", customer)
                .put("token", token)
                .put("amount", amount)
                .put("balance", balance);
    }
}
