package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.examples.nightly.Town.Hesitation;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The application as it is deployed: two JVMs, the second one started when the first has done the night's work. */
@Timeout(180)
class TwoInstancesIT {

    private static final List<String> CUSTOMERS = List.of("1", "2", "3");
    private static final int CLIENTS = 24;
    private static final int CHARGES_EACH = 12;

    private static Town town;
    private static InstanceProcess first;
    private static InstanceProcess second;

    private final AtomicBoolean isSecondDead = new AtomicBoolean();
    private final AtomicInteger answered = new AtomicInteger();
    private final CompletableFuture<Hesitation> underWay = new CompletableFuture<>();
    private final AtomicInteger unknown = new AtomicInteger();

    @BeforeAll
    static void start() throws Exception {
        town = Town.withCustomers("1", "2", "3", "left");
        first = InstanceProcess.start(town.settings("first", Town.ENDLESS));
        Town.until("the first one has done the night's work", () -> first.hasSaid(": done"));
        second = InstanceProcess.start(town.settings("second", Town.ENDLESS));
        Town.until("the second instance has read the book", () -> second.hasSaid(": nothing to do"));
    }

    @AfterAll
    static void stop() throws Exception {
        for (AutoCloseable each : Arrays.asList(second, first, town)) {
            if (each != null) { // else it has not come up
                each.close();
            }
        }
    }

    @Test
    void theJobRunsOncePerNightHoweverLateTheOtherInstanceStarts() {
        assertThat(town.column("select instance from night_run")).containsExactly("first");
        assertThat(town.column("select customer from statement order by customer"))
                .containsExactly("1", "2", "3", "left");
    }

    @Test
    void aClientThatLeavesWhileItWaitsGivesUpItsPlace() throws Exception {
        Hesitation midWork = town.hesitate("first", "left");
        CompletableFuture<HttpResponse<String>> inWork = town.charge(first.port(), "left", 10);
        midWork.awaitQuestion();
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), first.port())) {
            client.getOutputStream()
                    .write(
                            "POST /customers/left/charges HTTP/1.1\r\nHost: here\r\nContent-Length: 24\r\n\r\n{\"id\": \"a\", \"amount\": 5}"
                                    .getBytes(StandardCharsets.US_ASCII));
            Town.until("it waits", () -> town.claimsOf("customer/left") == 2);
        }
        Town.until("its place is free", () -> town.claimsOf("customer/left") == 1);
        midWork.end();
        assertThat(Town.done(inWork).statusCode()).isEqualTo(200);
        assertThat(town.column("select balance from customer where id = 'left'"))
                .containsExactly(10L);
    }

    @Test
    void balancesAreExactAndNoRequestHangsThoughAnInstanceIsKilledInMidWork() throws Exception {
        int firstPort = first.port();
        int secondPort = second.port();
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        List<Future<Void>> clients = IntStream.range(0, CLIENTS)
                .mapToObj(client -> threads.submit(() -> charge(client, firstPort, secondPort)))
                .toList();
        threads.shutdown();
        Hesitation midWork = Town.done(underWay);
        midWork.awaitQuestion(); // it has read the balance, and holds the lock
        second.kill();
        isSecondDead.set(true);
        midWork.end();
        int before = charges("1");
        for (Future<Void> client : clients) {
            client.get(); // none hangs: each request has a limit
        }

        assertThat(answered).hasValue(CLIENTS * CHARGES_EACH);
        assertThat(unknown).hasPositiveValue();
        assertThat(charges("1"))
                .as("after the kill, its customer was charged by the other")
                .isGreaterThan(before);
        int written = 0;
        for (String customer : CUSTOMERS) {
            written += charges(customer);
            assertThat(balance(customer)).as("balance of " + customer).isEqualTo(charges(customer));
            assertThat(town.column(
                            "select balance from charge where customer = '%s' order by token".formatted(customer)))
                    .as("in the order of the tokens, each charge has seen the one before")
                    .isEqualTo(upTo(charges(customer)));
        }
        assertThat(written)
                .as("each was repeated until it was answered, and charged once")
                .isEqualTo(CLIENTS * CHARGES_EACH);
    }

    private Void charge(int client, int firstPort, int secondPort) throws InterruptedException, TimeoutException {
        for (int i = 0; i < CHARGES_EACH; i++) {
            String customer = CUSTOMERS.get((client + i) % CUSTOMERS.size());
            String id = "%d/%d".formatted(client, i);
            boolean toFirst = isSecondDead.get() || (client + i) % 2 == 0;
            while (!isCharged(toFirst ? firstPort : secondPort, customer, id)) {
                unknown.incrementAndGet(); // it may have been charged or not: the same request again
                toFirst = true;
            }
        }
        return null;
    }

    private boolean isCharged(int port, String customer, String id) throws InterruptedException, TimeoutException {
        try {
            return isCharged(town.charge(port, customer, id, 1).get(Town.PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(IOException.class);
            return false; // the instance was killed
        }
    }

    private boolean isCharged(HttpResponse<String> response) {
        if (response.statusCode() == 503 && response.body().contains("was lost during the charge")) {
            return false; // the machine has stood still for longer than a session lasts
        }
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        JsonObject charge = new JsonObject(response.body());
        assertThat(town.column("select balance from charge where customer = '%s' and token = %d"
                        .formatted(charge.getString("customer"), charge.getLong("token"))))
                .containsExactly(charge.getLong("balance"));
        // Then no more than half of the clients have sent their last question to the second one about that customer.
        if (answered.incrementAndGet() == CLIENTS * CHARGES_EACH / 4) {
            underWay.complete(town.hesitate("second", "1"));
        }
        return true;
    }

    private static int charges(String customer) {
        return town.query("select token from charge where customer = '%s'".formatted(customer))
                .size();
    }

    private static long balance(String customer) {
        return (long) town.column("select balance from customer where id = '%s'".formatted(customer))
                .get(0);
    }

    private static List<Object> upTo(long last) {
        List<Object> balances = new ArrayList<>();
        for (long balance = 1; balance <= last; balance++) {
            balances.add(balance);
        }
        return balances;
    }
}
