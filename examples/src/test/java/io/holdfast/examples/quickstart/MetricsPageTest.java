package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.micrometer.LockObservationContext;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The page about metrics has the meters, observations and events of the library. */
class MetricsPageTest {

    private static final Path EXAMPLES = Path.of("").toAbsolutePath();

    private final String page = Files.readString(EXAMPLES.resolveSibling("docs/reference/metrics.md"));

    MetricsPageTest() throws IOException {}

    @Test
    void theLinesAreTheCompiledOnes() throws IOException {
        String source =
                Files.readString(EXAMPLES.resolve("src/main/java/io/holdfast/examples/quickstart/Metered.java"));
        String begin = "        // README: begin\n";
        String lines =
                source.substring(source.indexOf(begin) + begin.length(), source.indexOf("        // README: end"));

        assertThat(page).contains("```java\n" + lines.stripTrailing().stripIndent() + "\n```\n");
    }

    @Test
    void theMetersAreThoseOfTheTable() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        LockClient locks = Metered.over(InMemoryLockBackend.create(), meters, ObservationRegistry.create());
        StepVerifier.create(locks.lock("stock/42").withLock(Mono.just(1)))
                .expectNext(1)
                .verifyComplete();
        StepVerifier.create(locks.close()).verifyComplete();

        assertThat(rowsOfMeters().keySet())
                .isEqualTo(meters.getMeters().stream()
                        .map(meter -> meter.getId().getName())
                        .collect(Collectors.toSet()));
        for (Meter meter : meters.getMeters()) {
            String row = rowsOfMeters().get(meter.getId().getName());
            assertThat(row).contains("| " + meter.getId().getType().name().toLowerCase(Locale.ROOT) + " |");
            meter.getId().getTags().stream()
                    .filter(tag ->
                            !Set.of("backend", "lock.family", "lock.kind").contains(tag.getKey()))
                    .forEach(tag -> assertThat(row).contains("`" + tag.getKey() + "`", "`" + tag.getValue() + "`"));
        }
    }

    private Map<String, String> rowsOfMeters() {
        return page.lines()
                .filter(line -> line.startsWith("| `holdfast.lock."))
                .collect(Collectors.toMap(line -> line.split("`", -1)[1], line -> line));
    }

    @Test
    void thePageNamesEveryEvent() {
        assertThat(LockEvent.class.getPermittedSubclasses())
                .allSatisfy(kind -> assertThat(page).contains("`" + kind.getSimpleName() + "`"));
    }

    @Test
    void theOperationsAndOutcomesOfObservationsAreThoseOfTheTable() {
        assertThat(Stream.concat(
                                Arrays.stream(LockObservationContext.Operation.values()),
                                Arrays.stream(LockObservationContext.Outcome.values()))
                        .map(it -> it.name().toLowerCase(Locale.ROOT)))
                .allSatisfy(it -> assertThat(page).contains("`" + it + "`"));
    }
}
