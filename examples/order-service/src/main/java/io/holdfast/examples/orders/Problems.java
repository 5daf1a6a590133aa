package io.holdfast.examples.orders;

import io.holdfast.LockException;
import io.holdfast.LockLostException;
import io.holdfast.LockTimeoutException;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;

/** What a client is told when there is no receipt. */
final class Problems {

    private Problems() {}

    static boolean isOurs(Throwable error) {
        return error instanceof LockException
                || error instanceof SoldOutException
                || error instanceof StaleLeaseException
                || error instanceof DataAccessException;
    }

    static ProblemDetail of(Throwable error) {
        if (error instanceof SoldOutException) {
            return problem(HttpStatus.CONFLICT, "Sold out", "So many are not left.");
        }
        if (error instanceof LockTimeoutException timeout && timeout.backendAnswered()) {
            return problem(HttpStatus.CONFLICT, "Busy", "Others were served all the time. Try again.");
        }
        boolean isStockAway = error instanceof DataAccessException;
        if (isStockAway || error instanceof StaleLeaseException || error instanceof LockLostException) {
            return problem(
                    HttpStatus.SERVICE_UNAVAILABLE, "Interrupted", "The order may not have been placed. Look first.");
        }
        // The back end is away, or this instance is about to end.
        return problem(HttpStatus.SERVICE_UNAVAILABLE, "Not available", "Nothing was sold. Try again later.");
    }

    private static ProblemDetail problem(HttpStatus status, String title, String detail) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
        problem.setTitle(title);
        return problem;
    }
}
