package io.holdfast.examples.nightly;

import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * The charge that a client requests.
 *
 * @param id chosen by the client, which sends the same id when an answer was lost and the charge is sent again
 */
record ChargeRequest(String customer, String id, long amount) {

    static ChargeRequest of(String customer, @Nullable JsonObject body) {
        if (body != null
                && body.getValue("id") instanceof String id
                && !id.isBlank()
                && body.getValue("amount") instanceof Integer amount
                && amount > 0) {
            return new ChargeRequest(customer, id, amount);
        }
        throw new Refusal(400, "the body must be an object with an id, and an amount greater than 0");
    }
}
