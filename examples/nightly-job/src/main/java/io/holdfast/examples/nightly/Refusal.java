package io.holdfast.examples.nightly;

import java.io.Serial;

/** A request that is answered with a problem, by this service's own decision. */
final class Refusal extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String detail;

    Refusal(int status, String detail) {
        super(detail, null, false, false); // no failure of a program, so no stack trace
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
