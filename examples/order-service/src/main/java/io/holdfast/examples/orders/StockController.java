package io.holdfast.examples.orders;

import io.holdfast.LockException;
import org.springframework.dao.DataAccessException;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The routes of the stock, with annotations. */
@RestController
@RequestMapping("/stock/{item}")
class StockController {

    record Stock(int amount) {}

    private final Orders orders;
    private final StockStore stock;

    StockController(Orders orders, StockStore stock) {
        this.orders = orders;
        this.stock = stock;
    }

    @GetMapping
    Mono<Stock> amount(@PathVariable("item") String item) {
        return stock.amount(item).map(Stock::new);
    }

    @PutMapping
    Mono<Void> restock(@PathVariable("item") String item, @RequestBody Stock wanted) {
        return orders.restock(item, wanted.amount());
    }

    @ExceptionHandler({LockException.class, StaleLeaseException.class, DataAccessException.class})
    ProblemDetail problem(RuntimeException error) {
        return Problems.of(error);
    }
}
