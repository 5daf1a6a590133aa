package io.holdfast.examples.nightly;

import io.holdfast.LockBackendException;
import io.holdfast.LockClosedException;
import io.holdfast.LockLostException;
import io.holdfast.LockTimeoutException;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a failed request (RFC 9457).
 *
 * @param status the HTTP status
 * @param detail the message for the client
 */
record Problem(int status, String detail) {

    static Problem of(@Nullable Throwable failure) {
        if (failure instanceof LockTimeoutException timeout) {
            return timeout.backendAnswered()
                    ? new Problem(409, "other requests held the lock of this customer all the time; try again later")
                    : new Problem(503, "the lock service is unreachable; nothing was charged");
        }
        if (failure instanceof LockBackendException || failure instanceof LockClosedException) {
            return new Problem(503, "the lock service is unreachable; nothing was charged");
        }
        if (failure instanceof LockLostException) {
            return new Problem(503, "the lock was lost during the charge; check the balance before you try again");
        }
        if (failure instanceof TimeoutException) {
            return new Problem(504, "the credit bureau does not answer; nothing was charged");
        }
        if (failure instanceof Refusal refusal) {
            return new Problem(refusal.status(), refusal.detail());
        }
        if (failure instanceof DecodeException) {
            return new Problem(400, "the body is not JSON");
        }
        return new Problem(500, "this service has failed");
    }

    void answer(RoutingContext request) {
        request.response()
                .setStatusCode(status)
                .putHeader("Content-Type", "application/problem+json")
                .end(toJson().toBuffer());
    }

    private JsonObject toJson() {
        return new JsonObject()
                .put("status", status)
                .put("title", HttpResponseStatus.valueOf(status).reasonPhrase())
                .put("detail", detail);
    }
}
