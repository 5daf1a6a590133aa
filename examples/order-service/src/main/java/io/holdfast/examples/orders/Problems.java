package io.holdfast.examples.orders;

import io.holdfast.LockException;
import io.holdfast.LockLostException;
import io.holdfast.LockTimeoutException;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

/** The answers to a client when there is no receipt. */
final class Problems {

    private Problems() {}

    static boolean isOurs(Throwable error) {
        return error instanceof LockException
                || error instanceof SoldOutException
                || error instanceof OtherOrderException
                || error instanceof PaymentRefusedException
                || error instanceof StaleLeaseException
                || error instanceof DataAccessException;
    }

    static ProblemDetail of(Throwable error) {
        if (error instanceof SoldOutException) {
            return problem(HttpStatus.CONFLICT, "Sold out", "The stock has fewer items than you ordered.");
        }
        if (error instanceof PaymentRefusedException) {
            return problem(HttpStatus.PAYMENT_REQUIRED, "Not paid", "The payment was refused. Nothing was sold.");
        }
        if (error instanceof OtherOrderException) {
            return problem(HttpStatus.CONFLICT, "Other order", "The id was used for another order.");
        }
        if (error instanceof LockTimeoutException timeout && timeout.backendAnswered()) {
            return problem(
                    HttpStatus.CONFLICT, "Busy", "Other orders held the lock of this item all the time. Try again.");
        }
        boolean isStockAway = error instanceof DataAccessException;
        if (isStockAway || error instanceof StaleLeaseException || error instanceof LockLostException) {
            return problem(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "Interrupted",
                    "Send the same order again: it is sold and paid once.");
        }
        // The back end is unreachable, or this instance is about to end.
        return problem(HttpStatus.SERVICE_UNAVAILABLE, "Not available", "Nothing was sold. Try again later.");
    }

    private static ProblemDetail problem(HttpStatus status, String title, String detail) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
        problem.setTitle(title);
        return problem;
    }
}
