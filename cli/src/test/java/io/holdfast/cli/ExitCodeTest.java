package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockReport;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A script decides by the exit code. */
class ExitCodeTest {

    private static class Store implements LockInspector {

        private final List<LockReport> locks;

        Store(List<LockReport> locks) {
            this.locks = locks;
        }

        @Override
        public Flux<LockReport> inspect(String name) {
            return Flux.fromIterable(locks);
        }

        @Override
        public Flux<LockReport> all() {
            return Flux.fromIterable(locks);
        }

        @Override
        public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
            return Mono.just(false);
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(List<LockReport> locks, String... words) {
        return run(new Store(locks), out, words);
    }

    private int run(LockInspector store, OutputStream output, String... words) {
        return new Program(
                        Map.of("HOLDFAST_STORE", "redis://host"),
                        arguments -> store,
                        Duration.ofSeconds(5),
                        new BufferedReader(Reader.nullReader()),
                        new PrintStream(output, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8))
                .run(List.of(words));
    }

    private static LockReport lock(int holders, int waiters) {
        return new LockReport(
                "stock",
                LockReport.Type.MUTEX,
                holders,
                List.of(),
                waiters,
                List.of(),
                OptionalLong.of(7),
                Map.of(),
                List.of());
    }

    private String printed() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String reported() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void withoutArgumentsTheUsageIsWrong() {
        assertThat(run(List.of())).isEqualTo(Program.USAGE);
        assertThat(printed()).isEmpty();
        assertThat(reported()).contains("Name a command").contains("holdfast help");
    }

    @Test
    void helpThatWasAskedForIsNoMistake() {
        assertThat(run(List.of(), "help")).isEqualTo(Program.DONE);
        assertThat(run(List.of(), "list", "--help")).isEqualTo(Program.DONE);
        assertThat(printed()).contains("Exit code: 0 done");
        assertThat(reported()).isEmpty();
    }

    @Test
    void showDoneMeansThatAClaimHoldsTheLockOrWaits() {
        assertThat(run(List.of(lock(1, 0)), "show", "stock")).isEqualTo(Program.DONE);
        assertThat(run(List.of(lock(0, 1)), "show", "stock")).isEqualTo(Program.DONE);
        assertThat(run(List.of(lock(0, 0), lock(1, 0)), "show", "stock")).isEqualTo(Program.DONE);
        assertThat(reported()).isEmpty();
    }

    /** Otherwise the code would change hours after the release, when the back end forgets the last token. */
    @Test
    void showOfAFreeLockPrintsItsLastTokenAndFindsNothing() {
        assertThat(run(List.of(lock(0, 0)), "show", "stock")).isEqualTo(Program.NOTHING_THERE);
        assertThat(printed()).contains("last token  7");
        assertThat(reported()).contains("No claim holds lock 'stock' or waits for it");

        assertThat(run(List.of(), "show", "stock")).isEqualTo(Program.NOTHING_THERE);
        assertThat(reported()).contains("no last fencing token");
    }

    /** Such as a full disk. */
    private static OutputStream fullAfter(int lines) {
        return new OutputStream() {
            private int written;

            @Override
            public void write(int b) throws IOException {
                if (written == lines) {
                    throw new IOException("No space left on device");
                }
                written += b == '\n' ? 1 : 0;
            }
        };
    }

    @Test
    void lostOutputIsAFailure() {
        assertThat(run(new Store(List.of(lock(1, 0))), fullAfter(1), "list")).isEqualTo(Program.FAILED);
        assertThat(reported()).contains("The output was not written");
    }

    /** There may be millions of locks. */
    @Test
    void aListEndsWhenItsOutputIsLost() {
        List<LockReport> read = new ArrayList<>();
        LockInspector store = new Store(Collections.nCopies(1_000, lock(1, 0))) {
            @Override
            public Flux<LockReport> all() {
                return super.all().doOnNext(read::add);
            }
        };
        assertThat(run(store, fullAfter(1), "list", "--json")).isEqualTo(Program.FAILED);
        assertThat(read).hasSizeLessThan(10);
    }

    @Test
    void aLockThatTheBackEndReportsTwiceIsOneLineOfTheTable() {
        assertThat(run(List.of(lock(1, 0), lock(1, 0)), "list")).isEqualTo(Program.DONE);
        assertThat(printed().lines()).hasSize(2);
    }
}
