package io.holdfast.examples.fenced;

import io.holdfast.LockException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
class OrderController {

    private final Orders orders;

    OrderController(Orders orders) {
        this.orders = orders;
    }

    @PostMapping("/orders")
    @ResponseStatus(HttpStatus.CREATED)
    Mono<Receipt> place(@RequestBody Order order) {
        return orders.place(order);
    }

    @ExceptionHandler
    ProblemDetail soldOut(SoldOutException error) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, error.getMessage());
    }

    @ExceptionHandler
    ProblemDetail notPaid(PaymentRefusedException error) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.PAYMENT_REQUIRED, error.getMessage());
    }

    @ExceptionHandler
    ProblemDetail otherOrder(OtherOrderException error) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, error.getMessage());
    }

    /** The item is busy, the request was interrupted, or the database is unreachable. The customer may send the same order again: it is sold and paid once. */
    @ExceptionHandler
    ProblemDetail notSold(LockException error) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "Send the same order again.");
    }
}
