package io.holdfast.examples.nightly;

import java.io.Serial;

/** This service refuses a request and answers with a problem. */
final class Refusal extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String detail;

    Refusal(int status, String detail) {
        super(detail, null, false, false); // not a failure of the program, so no stack trace
        this.status = status;
        this.detail = detail;
    }

    String detail() {
        return detail;
    }

    int status() {
        return status;
    }
}
