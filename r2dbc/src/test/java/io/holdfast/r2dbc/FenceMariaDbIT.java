package io.holdfast.r2dbc;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

class FenceMariaDbIT extends FenceIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }

    /** At SERIALIZABLE, InnoDB locks the rows that are read, so the other writers of these tests would wait. */
    @Override
    List<String> isolations() {
        return List.of("READ COMMITTED", "REPEATABLE READ");
    }

    /** A round trip takes longer than in PostgreSQL. */
    @Override
    Duration tinyLease() {
        return Duration.ofMillis(100);
    }

    @Override
    int rounds() {
        return 5;
    }

    @Override
    String sql() {
        return Fence.sql("MariaDB");
    }

    @Override
    List<String> twoPhases(String id) {
        return Stream.of("xa start '%s'", "xa end '%s'", "xa prepare '%s'", "xa commit '%s'")
                .map(step -> step.formatted(id))
                .toList();
    }
}
