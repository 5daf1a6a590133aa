package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.LocalDate;
import java.util.List;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The decisions of the database, without a lock. */
@Timeout(60)
class AccountsTest {

    private static final LocalDate NIGHT = LocalDate.of(2026, 3, 1);

    private final Vertx vertx = Vertx.vertx();
    private final JdbcConnectionPool database = Town.emptyDatabase();
    private final Accounts accounts = new Accounts(vertx, database, "test");

    @BeforeEach
    void addCustomer() throws Exception {
        try (var connection = database.getConnection();
                var statement = connection.createStatement()) {
            statement.execute("insert into customer values ('1', 0, 0)");
        }
    }

    @AfterEach
    void close() {
        Town.done(vertx.close());
        database.dispose();
    }

    @Test
    void aNightThatIsDoneIsNotBegunAgainWhateverTheToken() {
        assertThat(Town.done(accounts.begin(NIGHT, 7))).isTrue();
        assertThat(Town.done(accounts.finish(NIGHT, 7, List.of(new Statement("1", 5, 95)))))
                .isTrue();
        assertThat(Town.done(accounts.begin(NIGHT, 8))).isFalse();
        assertThat(Town.done(accounts.begin(NIGHT.minusDays(1), 9))).isFalse();
        assertThat(Town.done(accounts.begin(NIGHT.plusDays(1), 9))).isTrue();
    }

    @Test
    void aFormerOwnerNeitherBeginsNorFinishes() {
        assertThat(Town.done(accounts.begin(NIGHT, 7))).isTrue();
        assertThat(Town.done(accounts.begin(NIGHT, 8))).as("took over").isTrue();
        assertThat(Town.done(accounts.begin(NIGHT, 7)))
                .as("the former one, again")
                .isFalse();
        assertThat(Town.done(accounts.finish(NIGHT, 7, List.of())))
                .as("woke up late")
                .isFalse();
        assertThat(Town.done(accounts.finish(NIGHT, 8, List.of()))).isTrue();
    }

    @Test
    void aChargeIsWrittenByTheOwnerThatHasRead() {
        assertThat(Town.done(accounts.balanceOf("1", 7))).isZero();
        Town.done(accounts.write(new Charge("1", "a", 7, 5, 5)));
        assertThat(Town.done(accounts.balanceOf("1", 8))).isEqualTo(5);
    }

    @Test
    void aRepeatedRequestFindsItsCharge() {
        Charge charge = new Charge("1", "a", 7, 5, 5);
        assertThat(Town.done(accounts.charged(new ChargeRequest("1", "a", 5)))).isEmpty();
        assertThat(Town.done(accounts.balanceOf("1", 7))).isZero();
        Town.done(accounts.write(charge));
        assertThat(Town.done(accounts.charged(new ChargeRequest("1", "a", 5)))).contains(charge);
        assertThat(Town.done(accounts.charged(new ChargeRequest("1", "b", 5)))).isEmpty();
        assertRefused(accounts.charged(new ChargeRequest("1", "a", 6)), 409);
    }

    /** Without the check, a former owner that paused after its read and the next owner would overwrite each other's charges. */
    @Test
    void aFormerOwnerWritesNothingAfterTheNextOwnerHasRead() {
        assertThat(Town.done(accounts.balanceOf("1", 7))).isZero();
        assertThat(Town.done(accounts.balanceOf("1", 8))).isZero();
        assertRefused(accounts.write(new Charge("1", "a", 7, 5, 5)), 503);
        Town.done(accounts.write(new Charge("1", "b", 8, 3, 3)));
        assertRefused(accounts.balanceOf("1", 7), 503);
        assertThat(Town.done(accounts.balances())).containsEntry("1", 3L);
    }

    @Test
    void anUnknownCustomerIsRefused() {
        assertRefused(accounts.balanceOf("nobody", 7), 404);
    }

    private static void assertRefused(Future<?> future, int status) {
        assertThat(future.toCompletionStage().toCompletableFuture())
                .failsWithin(Town.PATIENCE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.status()).isEqualTo(status));
    }
}
