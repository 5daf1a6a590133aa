package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.examples.nightly.Town.Hesitation;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests one instance in this JVM, where BlockHound watches its event loops. */
@Timeout(180)
class CustomerRoutesIT {

    /** Long enough for the grant of a free lock, also on a busy machine. */
    private static final Duration WAIT = Duration.ofSeconds(2);

    private static Town town;
    private static Main.Running instance;

    @BeforeAll
    static void start() throws Exception {
        town = Town.withCustomers("busy", "leaving", "away", "poor", "twice");
        instance = Town.done(Main.start(town.settings("here", WAIT)));
        Town.until(
                "the night's work is done",
                () -> !town.query("select * from statement").isEmpty());
    }

    @AfterAll
    static void stop() throws Exception {
        Town.done(instance.vertx().close());
        town.close();
    }

    private static CompletableFuture<HttpResponse<String>> charge(String customer, long amount) {
        return town.charge(instance.port(), customer, amount);
    }

    private static void assertProblem(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(new JsonObject(response.body()).getInteger("status")).isEqualTo(status);
        assertThat(new JsonObject(response.body()).getString("detail")).isNotBlank();
    }

    @Test
    void aRequestThatWaitsTooLongForItsCustomerIsAConflict() throws Exception {
        Hesitation midWork = town.hesitate("here", "busy");
        CompletableFuture<HttpResponse<String>> first = charge("busy", 10);
        midWork.awaitQuestion();
        assertProblem(Town.done(charge("busy", 10)), 409);
        midWork.end();
        assertThat(Town.done(first).statusCode()).isEqualTo(200);
        assertThat(town.column("select balance from customer where id = 'busy'"))
                .containsExactly(10L);
    }

    @Test
    void anInstanceThatStopsAnswersItsWaitersFirstAndLetsTheHolderFinish() throws Exception {
        Main.Running leaving = Town.done(Main.start(town.settings("leaving", Duration.ofMinutes(2))));
        Hesitation midWork = town.hesitate("leaving", "leaving");
        CompletableFuture<HttpResponse<String>> holder = town.charge(leaving.port(), "leaving", 10);
        midWork.awaitQuestion();
        CompletableFuture<HttpResponse<String>> waiter = town.charge(leaving.port(), "leaving", 10);
        Town.until("it waits", () -> town.claimsOf("customer/leaving") == 2);

        Future<Void> closed = leaving.vertx().close();

        assertProblem(Town.done(waiter), 503);
        assertThat(holder).isNotDone();
        midWork.end();
        assertThat(Town.done(holder).statusCode()).isEqualTo(200);
        Town.done(closed);
        Town.until("its lock is free", () -> town.claimsOf("customer/leaving") == 0);
    }

    @Test
    void aRepeatedRequestIsChargedOnce() {
        String first = Town.done(town.charge(instance.port(), "twice", "id", 7)).body();
        assertThat(Town.done(town.charge(instance.port(), "twice", "id", 7)).body())
                .isEqualTo(first);
        assertProblem(Town.done(town.charge(instance.port(), "twice", "id", 8)), 409);
        assertProblem(Town.done(town.charge(instance.port(), "twice", " ", 8)), 400);
        assertThat(town.column("select balance from customer where id = 'twice'"))
                .containsExactly(7L);
    }

    @Test
    void requestsAreRefusedWhileTheLockServiceIsUnreachableAndServedAfterwards() throws Exception {
        town.zooKeeper().stop();
        assertProblem(Town.done(charge("away", 10)), 503);
        town.zooKeeper().restart();
        Town.until("it is served again", () -> Town.done(charge("away", 1)).statusCode() == 200);
    }

    @Test
    void aRefusedRequestIsAnsweredWithTheReason() {
        assertProblem(Town.done(charge("poor", Town.LIMIT + 1)), 422);
        assertProblem(Town.done(charge("poor", 0)), 400);
        assertProblem(Town.done(charge("nobody", 1)), 404);
        assertThat(town.column("select balance from customer where id = 'poor'"))
                .containsExactly(0L);
    }
}
