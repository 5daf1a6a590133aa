package io.holdfast.examples.nightly;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockOptions;
import io.holdfast.vertx.VertxLocks;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code POST /customers/:id/charges} with {@code {"id": "a1", "amount": 30}}: one at a time for each customer, over all instances. */
final class CustomerRoutes extends VerticleBase {

    private static final Logger LOG = LoggerFactory.getLogger(CustomerRoutes.class);

    private final HttpServer server;
    private final Settings settings;
    private final VertxLocks locks;
    private final LockOptions options;
    private final Accounts accounts;
    private final Bureau bureau;

    CustomerRoutes(HttpServer server, Settings settings, VertxLocks locks, Accounts accounts, Bureau bureau) {
        this.server = server;
        this.settings = settings;
        this.locks = locks;
        this.options = LockOptions.builder().waitTimeout(settings.patience()).build();
        this.accounts = accounts;
        this.bureau = bureau;
    }

    @Override
    public Future<?> start() {
        Router router = Router.router(vertx);
        router.post("/customers/:id/charges")
                .handler(BodyHandler.create(false))
                .handler(this::charge)
                .failureHandler(CustomerRoutes::fail);
        return server.requestHandler(router).listen(settings.port(), "127.0.0.1");
    }

    private void charge(RoutingContext request) {
        ChargeRequest wanted = ChargeRequest.of(
                requireNonNull(request.pathParam("id"), "id"), request.body().asJsonObject());
        // README: begin
        Future<Void> left = Future.future(end -> request.addEndHandler(ended -> end.tryComplete()));
        locks.lock("customer/" + wanted.customer())
                .with(options) // with a waitTimeout
                .giveUpWhen(left) // a client that leaves while it waits gives up its place
                .withLock(lease -> charge(wanted, lease.fencingToken()))
                .onSuccess(charge -> request.json(charge.toJson()))
                .onFailure(request::fail); // 409, 503, ... in the failure handler
        // README: end
    }

    /** Returns the first charge for a request that is sent again. */
    private Future<Charge> charge(ChargeRequest wanted, long token) {
        return accounts.balanceOf(wanted.customer(), token)
                .compose(balance -> accounts.charged(wanted)
                        .compose(before ->
                                before.map(Future::succeededFuture).orElseGet(() -> charge(wanted, balance, token))));
    }

    /** Decides and writes after the read. Only the lock keeps two requests apart here. */
    private Future<Charge> charge(ChargeRequest wanted, long balance, long token) {
        long after = balance + wanted.amount();
        return bureau.limitOf(wanted.customer()).compose(limit -> {
            if (after > limit) {
                throw new Refusal(422, "%d would be more than the limit of %d".formatted(after, limit));
            }
            return accounts.write(new Charge(wanted, token, after));
        });
    }

    private static void fail(RoutingContext request) {
        if (request.response().closed()) {
            return; // the client has left
        }
        Problem problem = Problem.of(request.failure());
        if (problem.status() == 500) {
            LOG.error("{} failed", request.normalizedPath(), request.failure());
        }
        problem.answer(request);
    }

    /** Ends the waits first: they are answered while the server still answers. The charges that have begun may end. */
    @Override
    public Future<?> stop() {
        Future<Void> drained = locks.drain();
        return server.shutdown(settings.patience().toMillis(), TimeUnit.MILLISECONDS)
                .eventually(() -> drained);
    }
}
