package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A back end that does not answer, or whose connection does not end. */
class SlowStoreTest {

    private static final LockHolder HOLDER =
            new LockHolder("01@orders:host-7:4711", LockKind.MUTEX, 1, 7, Optional.empty(), Optional.empty(), Map.of());

    private record Store(Mono<Boolean> broken, Mono<Void> closed) implements LockInspector {

        @Override
        public Flux<LockReport> inspect(String name) {
            return Flux.just(new LockReport(
                    name,
                    LockReport.Type.MUTEX,
                    1,
                    List.of(HOLDER),
                    0,
                    List.of(),
                    OptionalLong.of(7),
                    Map.of(),
                    List.of()));
        }

        @Override
        public Flux<LockReport> all() {
            return Flux.never();
        }

        @Override
        public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
            return broken;
        }

        @Override
        public Mono<Void> close() {
            return closed;
        }
    }

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(Store store, String... words) {
        Program program = new Program(
                Map.of("HOLDFAST_STORE", "redis://host"),
                arguments -> store,
                Duration.ofMillis(200),
                new BufferedReader(Reader.nullReader()),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        return program.run(List.of(words));
    }

    @Test
    void unansweredRequestIsReported() {
        Store silent = new Store(Mono.never(), Mono.empty());
        for (String[] words : new String[][] {{"list"}, {"list", "--json"}, {"break", "stock", "--yes"}}) {
            err.reset();
            assertThat(run(silent, words)).isEqualTo(Program.FAILED);
            assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("The back end did not answer for ");
        }
        assertThat(out.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void breakSucceedsThoughTheConnectionDoesNotEnd() {
        assertThat(run(new Store(Mono.just(true), Mono.never()), "break", "stock", "--yes"))
                .isEqualTo(Program.DONE);
        assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("Broken: ");
    }
}
