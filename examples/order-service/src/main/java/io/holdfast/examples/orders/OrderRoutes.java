package io.holdfast.examples.orders;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebInputException;
import reactor.core.publisher.Mono;

/** The routes of orders, as functions. */
@Configuration(proxyBeanMethods = false)
class OrderRoutes {

    private final Orders orders;
    private final StockStore stock;

    OrderRoutes(Orders orders, StockStore stock) {
        this.orders = orders;
        this.stock = stock;
    }

    @Bean
    RouterFunction<ServerResponse> routes() {
        return RouterFunctions.route()
                .POST("/orders", this::place)
                .GET("/orders/{item}", this::sales)
                .onError(Problems::isOurs, (error, request) -> problem(Problems.of(error)))
                .build();
    }

    private Mono<ServerResponse> place(ServerRequest request) {
        return request.bodyToMono(Order.class)
                .switchIfEmpty(Mono.error(() -> new ServerWebInputException("an order is missing")))
                .flatMap(orders::place)
                .flatMap(receipt -> ServerResponse.status(HttpStatus.CREATED).bodyValue(receipt));
    }

    private Mono<ServerResponse> sales(ServerRequest request) {
        return stock.sales(request.pathVariable("item"))
                .collectList()
                .flatMap(sales -> ServerResponse.ok().bodyValue(sales));
    }

    private static Mono<ServerResponse> problem(ProblemDetail problem) {
        return ServerResponse.status(problem.getStatus())
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .bodyValue(problem);
    }
}
