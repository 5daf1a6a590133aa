package io.holdfast.examples.nightly;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.sql.DataSource;

/**
 * The database of all instances. An instance first stores its fencing token, which the database refuses if a higher one is stored. Each write is
 * refused unless that token is still stored. So an instance that was paused during its work changes nothing after the next owner has begun.
 *
 * <p>JDBC blocks, so it runs on Vert.x's worker threads.
 */
final class Accounts implements NightBook {

    private final Vertx vertx;
    private final DataSource database;
    private final String instance;

    Accounts(Vertx vertx, DataSource database, String instance) {
        this.vertx = vertx;
        this.database = database;
        this.instance = instance;
    }

    Future<Map<String, Long>> balances() {
        return inTransaction(connection -> balances(connection, "select id, balance from customer"));
    }

    /**
     * Stores the token and reads the account: from here on, a former owner of the customer's lock writes nothing. A check in {@link #write} alone
     * would not be enough: the former owner could still write between this read and the write that depends on it.
     */
    Future<Long> balanceOf(String customer, long token) {
        return inTransaction(connection -> {
            int read = update(
                    connection, "update customer set token = ? where id = ? and token <= ?", token, customer, token);
            Long balance = balances(connection, "select id, balance from customer where id = ?", customer)
                    .get(customer);
            if (balance == null) {
                throw new Refusal(404, "there is no customer " + customer);
            }
            return onlyIf(read == 1, balance);
        });
    }

    /** Reads the charge that was made before for this request; empty for a new request. */
    Future<Optional<Charge>> charged(ChargeRequest request) {
        return inTransaction(connection -> {
            try (PreparedStatement select = prepare(
                    connection,
                    "select token, amount, balance from charge where customer = ? and id = ?",
                    request.customer(),
                    request.id())) {
                ResultSet row = select.executeQuery();
                if (!row.next()) {
                    return Optional.empty();
                }
                if (row.getLong(2) != request.amount()) {
                    throw new Refusal(409, "the id %s was used for another charge".formatted(request.id()));
                }
                return Optional.of(new Charge(request, row.getLong(1), row.getLong(3)));
            }
        });
    }

    Future<Charge> write(Charge charge) {
        return inTransaction(connection -> {
            int written = update(
                    connection,
                    "update customer set balance = ? where id = ? and token = ?",
                    charge.balance(),
                    charge.customer(),
                    charge.token());
            update(
                    connection,
                    "insert into charge (customer, id, token, amount, balance) values (?, ?, ?, ?, ?)",
                    charge.customer(),
                    charge.id(),
                    charge.token(),
                    charge.amount(),
                    charge.balance());
            return onlyIf(written == 1, charge);
        });
    }

    private static <T> T onlyIf(boolean isOwner, T result) {
        if (isOwner) {
            return result;
        }
        throw new Refusal(503, "another request got the lock meanwhile; nothing was charged, so try again");
    }

    @Override
    public Future<Boolean> begin(LocalDate night, long token) {
        return inTransaction(connection -> {
            boolean isOurs = update(
                            connection,
                            "update night_book set token = ? where token <= ? and done < ?",
                            token,
                            token,
                            night)
                    == 1;
            if (isOurs) {
                update(
                        connection,
                        "insert into night_run (night, instance, token) values (?, ?, ?)",
                        night,
                        instance,
                        token);
            }
            return isOurs;
        });
    }

    @Override
    public Future<Boolean> finish(LocalDate night, long token, List<Statement> statements) {
        return inTransaction(connection -> {
            // Equal, since begin stored it: a greater token is that of a later owner.
            if (update(connection, "update night_book set done = ? where token = ? and done < ?", night, token, night)
                    == 0) {
                return false;
            }
            for (Statement each : statements) {
                update(
                        connection,
                        "insert into statement (night, customer, balance, headroom) values (?, ?, ?, ?)",
                        night,
                        each.customer(),
                        each.balance(),
                        each.headroom());
            }
            return true;
        });
    }

    private static Map<String, Long> balances(Connection connection, String sql, Object... values) throws SQLException {
        Map<String, Long> balances = new TreeMap<>();
        try (PreparedStatement select = prepare(connection, sql, values)) {
            ResultSet row = select.executeQuery();
            while (row.next()) {
                balances.put(row.getString(1), row.getLong(2));
            }
        }
        return balances;
    }

    @CanIgnoreReturnValue
    private static int update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement update = prepare(connection, sql, values)) {
            return update.executeUpdate();
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, Object... values) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    private <T> Future<T> inTransaction(Step<T> step) {
        return vertx.executeBlocking(
                () -> {
                    try (Connection connection = database.getConnection()) {
                        connection.setAutoCommit(false);
                        try {
                            T result = step.in(connection);
                            connection.commit();
                            return result;
                        } catch (SQLException | RuntimeException e) {
                            connection.rollback();
                            throw e;
                        }
                    }
                },
                false);
    }

    private interface Step<T> {
        T in(Connection connection) throws SQLException;
    }
}
