package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.common.KeyValue;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A run of all features registers exactly the documented meters: those of the enums, and of the page. */
class DocumentedMetersTest {

    private static final Path PAGE = Path.of("")
            .toAbsolutePath()
            .resolve("../../docs/reference/metrics.md")
            .normalize();
    private static final Set<String> OF_OBSERVATIONS =
            Set.of("holdfast.lock", "holdfast.lock.active", "holdfast.lock.acquired");

    private final Everything run = Everything.run();
    private final Exposition exposition = new Exposition(run.meters.scrape());

    private Stream<Meter> ofTheClient() {
        return run.meters.getMeters().stream()
                .filter(it -> !OF_OBSERVATIONS.contains(it.getId().getName()));
    }

    private List<Meter> metersOf(LockMeterDocumentation documented) {
        return ofTheClient()
                .filter(it -> it.getId().getName().equals(documented.getName()))
                .toList();
    }

    @Test
    void theMetersOfARunAreTheDocumentedOnes() {
        assertThat(ofTheClient().map(it -> it.getId().getName()).distinct())
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(LockMeterDocumentation.values())
                        .map(LockMeterDocumentation::getName)
                        .toList());
        for (LockMeterDocumentation documented : LockMeterDocumentation.values()) {
            assertThat(metersOf(documented)).allSatisfy(meter -> {
                assertThat(meter.getId().getType()).isEqualTo(documented.getType());
                assertThat(meter.getId().getDescription()).isEqualTo(documented.getDescription());
                assertThat(meter.getId().getBaseUnit()).isEqualTo(documented.getBaseUnit());
                assertThat(meter.getId().getTags())
                        .extracting(Tag::getKey)
                        .containsExactlyInAnyOrder(texts(documented.getKeyNames()));
            });
        }
    }

    @Test
    void theKeyValuesOfObservationsAreTheDocumentedOnes() {
        LockObservationDocumentation documented = LockObservationDocumentation.LOCK;
        assertThat(run.recorder.stopped).hasSizeGreaterThan(10).allSatisfy(context -> {
            assertThat(context.getName()).isEqualTo("holdfast.lock");
            assertThat(context.getLowCardinalityKeyValues())
                    .extracting(KeyValue::getKey)
                    .containsExactlyInAnyOrder(texts(documented.getLowCardinalityKeyNames()));
        });
        assertThat(run.recorder.stopped.stream()
                        .flatMap(it -> it.getHighCardinalityKeyValues().stream())
                        .map(KeyValue::getKey)
                        .distinct())
                .containsExactlyInAnyOrder(texts(documented.getHighCardinalityKeyNames()));
        assertThat(run.recorder.calls.stream()
                        .filter(it -> !Set.of("start", "stop").contains(it) && !it.startsWith("/"))
                        .distinct())
                .containsExactlyElementsOf(Arrays.stream(documented.getEvents())
                        .map(it -> it.getName())
                        .toList());
    }

    private static String[] texts(KeyName... keys) {
        return Arrays.stream(keys).map(KeyName::asString).toArray(String[]::new);
    }

    @Test
    void prometheusExposesTheseNames() {
        assertThat(exposition.types())
                .containsExactly(
                        "holdfast_lock_abandoned_leases_total counter",
                        "holdfast_lock_acquired_total counter",
                        "holdfast_lock_active_seconds summary",
                        "holdfast_lock_active_seconds_max gauge",
                        "holdfast_lock_attempt_failures_total counter",
                        "holdfast_lock_held_leases gauge",
                        "holdfast_lock_hold_seconds histogram",
                        "holdfast_lock_hold_seconds_max gauge",
                        "holdfast_lock_losses_total counter",
                        "holdfast_lock_renewal_failures_total counter",
                        "holdfast_lock_seconds summary",
                        "holdfast_lock_seconds_max gauge",
                        "holdfast_lock_timeouts_total counter",
                        "holdfast_lock_unconfirmed_requests_total counter",
                        "holdfast_lock_wait_seconds histogram",
                        "holdfast_lock_wait_seconds_max gauge",
                        "holdfast_lock_waiting_waiters gauge");
    }

    /** To change the table, change the enum, and copy what this test expects. */
    @Test
    void theTableOfThePageListsTheDocumentedMeters() throws IOException {
        String table = Arrays.stream(LockMeterDocumentation.values())
                .map(this::row)
                .collect(Collectors.joining("", """
                        | meter | in Prometheus | type | unit | tags besides those | what it measures |
                        | --- | --- | --- | --- | --- | --- |
                        """, "\n"));

        assertThat(Files.readString(PAGE)).contains(table);
    }

    private String row(LockMeterDocumentation documented) {
        return "| `%s` | `%s` | %s | %s | %s | %s |\n"
                .formatted(
                        documented.getName(),
                        exposition.nameOf(documented.getDescription()),
                        documented.getType().name().toLowerCase(Locale.ROOT),
                        documented.getBaseUnit(),
                        furtherTags(documented),
                        documented.getDescription())
                .replace("|  |", "| |");
    }

    private String furtherTags(LockMeterDocumentation documented) {
        return Arrays.stream(documented.getKeyNames())
                .filter(key -> key != LockMeterDocumentation.TagName.BACKEND
                        && key != LockMeterDocumentation.TagName.FAMILY
                        && key != LockMeterDocumentation.TagName.KIND)
                .map(key -> "`%s`: %s".formatted(key.asString(), values(documented, key)))
                .collect(Collectors.joining("; "));
    }

    private String values(LockMeterDocumentation documented, KeyName key) {
        return metersOf(documented).stream()
                .map(it -> "`" + it.getId().getTag(key.asString()) + "`")
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .collect(Collectors.joining(", "));
    }
}
