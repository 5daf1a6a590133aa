package io.holdfast.examples.nightly;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpResponseExpectation;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** The credit bureau, which knows how much a customer may owe. It is a slow service of another company. */
final class Bureau {

    /** The longest time to wait for an answer: the customer stays locked while a request waits for the bureau. */
    private static final long PATIENCE_SECONDS = 30;

    private final HttpClient http;
    private final URI address;
    private final String instance;

    Bureau(Vertx vertx, URI address, String instance) {
        http = vertx.createHttpClient(new PoolOptions().setHttp1MaxSize(50));
        this.address = address;
        this.instance = instance;
    }

    /** Reads the limit of a customer. Fails with {@link java.util.concurrent.TimeoutException} if the bureau takes too long. */
    Future<Long> limitOf(String customer) {
        return http.request(new RequestOptions()
                        .setMethod(HttpMethod.GET)
                        .setHost(address.getHost())
                        .setPort(address.getPort())
                        .setURI("/limits/" + customer)
                        .putHeader("User-Agent", instance))
                .compose(request ->
                        request.send().expecting(HttpResponseExpectation.SC_OK).compose(HttpClientResponse::body))
                .map(body -> Long.parseLong(body.toString()))
                .timeout(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
}
