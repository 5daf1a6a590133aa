package io.holdfast.examples.orders;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.MediaType;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** Sends requests to one instance over HTTP, all at once: it has connections enough. */
record Customer(WebClient http, ConnectionProvider connections) implements AutoCloseable {

    /** A request that takes longer hangs. Requests take far less, also on a slow machine. */
    static final Duration LIMIT = Duration.ofMinutes(2);

    /** The answer to a request. */
    record Answer(int status, String type, Map<String, Object> body) {

        boolean isSold() {
            return status == 201;
        }

        boolean isSoldOut() {
            return status == 409 && "Sold out".equals(body.get("title"));
        }
    }

    static Customer of(int port) {
        ConnectionProvider connections = ConnectionProvider.create("customers-" + port, 500);
        WebClient http = WebClient.builder()
                .baseUrl("http://127.0.0.1:" + port)
                .clientConnector(new ReactorClientHttpConnector(HttpClient.create(connections)))
                .build();
        return new Customer(http, connections);
    }

    /** A new order. */
    Mono<Answer> order(String item) {
        return order(item, UUID.randomUUID().toString());
    }

    Mono<Answer> order(String item, String id) {
        return http.post()
                .uri("/orders")
                .bodyValue(Map.of("id", id, "item", item, "quantity", 1))
                .exchangeToMono(Customer::answer)
                .timeout(LIMIT);
    }

    void stock(String item, int amount) {
        Answer answer = http.put()
                .uri("/stock/{item}", item)
                .bodyValue(Map.of("amount", amount))
                .exchangeToMono(Customer::answer)
                .block(LIMIT);
        if (answer.status() != 200) {
            throw new AssertionError(answer);
        }
    }

    int stock(String item) {
        Answer answer = http.get()
                .uri("/stock/{item}", item)
                .exchangeToMono(Customer::answer)
                .block(LIMIT);
        return (int) answer.body().get("amount");
    }

    /** Reads the fencing token of each sale, in the order of the sales. */
    List<Long> tokens(String item) {
        return sales(item, 0).stream().map(Long::valueOf).toList();
    }

    /** Reads the order id of each sale. */
    List<String> sold(String item) {
        return sales(item, 2);
    }

    private List<String> sales(String item, int part) {
        String[] sales = http.get()
                .uri("/orders/{item}", item)
                .retrieve()
                .bodyToMono(String[].class)
                .block(LIMIT);
        return Arrays.stream(sales).map(sale -> sale.split(" ", 3)[part]).toList();
    }

    Answer health() {
        return http.get()
                .uri("/actuator/health")
                .exchangeToMono(Customer::answer)
                .block(LIMIT);
    }

    private static Mono<Answer> answer(ClientResponse response) {
        String type = response.headers().contentType().map(MediaType::toString).orElse("");
        return response.bodyToMono(new ParameterizedTypeReference<Map<String, Object>>() {})
                .defaultIfEmpty(Map.of())
                .map(body -> new Answer(response.statusCode().value(), type, body));
    }

    @Override
    public void close() {
        connections.dispose();
    }
}
