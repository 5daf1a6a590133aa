package io.holdfast.examples.nightly;

import io.vertx.core.json.JsonObject;

/**
 * A charge that was made. No two charges have the same id, nor the same token.
 *
 * @param id of the request
 * @param balance after this charge
 */
record Charge(String customer, String id, long token, long amount, long balance) {

    Charge(ChargeRequest request, long token, long balance) {
        this(request.customer(), request.id(), token, request.amount(), balance);
    }

    JsonObject toJson() {
        return new JsonObject()
                .put("customer", customer)
                .put("id", id)
                .put("token", token)
                .put("amount", amount)
                .put("balance", balance);
    }
}
