package io.holdfast.r2dbc.internal.lane;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One client uses a thousand new names a second for an hour, and free locks are kept for a minute, the shortest time. The sweep has the
 * pace of the client, and the steps of the SQL files. A step takes no time here.
 */
class SweepOfNewNamesTest {

    private static final long NAMES_A_SECOND = 1_000;
    private static final long HOUR = 3_600_000;
    private static final long KEPT = 60_000;

    /** The time between the beginnings of two passes. */
    private static final long MINUTE = 60_000;

    private static final long TICK = SweepPace.NEXT_STEP.toMillis();
    private static final Pattern STEP = Pattern.compile("order by name, kind, slot limit (\\d+)\\) step");

    private final Random random = new Random(1);
    private final SweepPace pace = new SweepPace();

    /** The milliseconds at which each name was used, in the order of the table. */
    private final NavigableMap<Long, Long> rows = new TreeMap<>();

    private boolean isInPass;
    private long sweptTo;
    private long begunAt = -MINUTE - 1;

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void thousandNewNamesASecondForAnHourLeaveABoundedTable(String database) throws IOException {
        int step = rowsOfAStep(database);
        boolean goesOn = false;
        long most = 0;
        for (long now = 0; now < HOUR; now += TICK) {
            for (int i = 0; i < NAMES_A_SECOND * TICK / 1_000; i++) {
                rows.put(random.nextLong(), now);
            }
            boolean isDue = pace.isDueBehindABatch(now * 1_000_000);
            goesOn = (goesOn || isDue) && isSwept(step, now);
            most = Math.max(most, rows.size());
        }
        double rowsASecond = step * 1_000.0 / TICK;
        double waits = (KEPT + MINUTE + SweepPace.LEAST_PAUSE.toMillis()) / 1_000.0;
        // A row waits for the next pass, and for that pass to reach it.
        assertThat((double) most).isLessThan(1.01 * NAMES_A_SECOND * waits / (1 - NAMES_A_SECOND / rowsASecond));
    }

    /** What the SQL function does in one step. Returns false if no step was due. */
    private boolean isSwept(int step, long now) {
        boolean begins = now - begunAt > MINUTE;
        if (!begins && !isInPass) {
            return false;
        }
        if (begins) {
            begunAt = now;
        }
        if (!isInPass) {
            sweptTo = Long.MIN_VALUE;
        }
        int read = 0;
        Iterator<Map.Entry<Long, Long>> next =
                rows.tailMap(sweptTo, false).entrySet().iterator();
        while (read < step && next.hasNext()) {
            Map.Entry<Long, Long> row = next.next();
            read++;
            sweptTo = row.getKey();
            if (row.getValue() <= now - KEPT) {
                next.remove();
            }
        }
        isInPass = read == step;
        return true;
    }

    private static int rowsOfAStep(String database) throws IOException {
        String path = "/io/holdfast/r2dbc/" + database + "/holdfast-1.sql";
        try (InputStream file = SweepOfNewNamesTest.class.getResourceAsStream(path)) {
            Matcher limit = STEP.matcher(new String(file.readAllBytes(), StandardCharsets.UTF_8));
            assertThat(limit.find()).isTrue();
            return Integer.parseInt(limit.group(1));
        }
    }
}
