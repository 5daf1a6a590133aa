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
import java.util.TreeMap;
import javax.sql.DataSource;

/**
 * The database of all instances. Every write carries a fencing token, and none is accepted whose token is lower than one seen before: so
 * an instance that was paused in mid-work, and whose lock has gone to another, changes nothing any more.
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
        return inTransaction(Accounts::balances);
    }

    /** Fails with {@link Refusal} if there is no such customer. */
    Future<Long> balanceOf(String customer) {
        return inTransaction(connection -> {
            try (PreparedStatement select = connection.prepareStatement("select balance from customer where id = ?")) {
                select.setString(1, customer);
                ResultSet row = select.executeQuery();
                if (!row.next()) {
                    throw new Refusal(404, "there is no customer " + customer);
                }
                return row.getLong(1);
            }
        });
    }

    /** Fails with {@link Refusal} if a later owner of the customer's lock has written. */
    Future<Charge> write(Charge charge) {
        return inTransaction(connection -> {
            int changed = update(
                    connection,
                    "update customer set balance = ?, token = ? where id = ? and token <= ?",
                    charge.balance(),
                    charge.token(),
                    charge.customer(),
                    charge.token());
            if (changed == 0) {
                throw new Refusal(
                        503, "the lock has gone to somebody else meanwhile; nothing was charged, so try again");
            }
            update(
                    connection,
                    "insert into charge (customer, token, amount, balance) values (?, ?, ?, ?)",
                    charge.customer(),
                    charge.token(),
                    charge.amount(),
                    charge.balance());
            return charge;
        });
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
            // Equal, since begin has left it there: a greater one is of a later owner.
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

    private static Map<String, Long> balances(Connection connection) throws SQLException {
        Map<String, Long> balances = new TreeMap<>();
        try (PreparedStatement select = connection.prepareStatement("select id, balance from customer")) {
            ResultSet row = select.executeQuery();
            while (row.next()) {
                balances.put(row.getString(1), row.getLong(2));
            }
        }
        return balances;
    }

    @CanIgnoreReturnValue
    private static int update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                update.setObject(i + 1, values[i]);
            }
            return update.executeUpdate();
        }
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
