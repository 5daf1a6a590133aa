package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The alert rules use existing series. Each has a test and a line on the page. */
class AlertsTest {

    private static final Path FILE = Path.of("dashboards/alerts.yml").toAbsolutePath();

    private final Exposition exposition = new Exposition(Everything.run().meters.scrape());
    private final List<Part> rules = Part.read(Files.readString(FILE)).parts("groups").stream()
            .flatMap(it -> it.parts("rules").stream())
            .toList();
    private final List<Part> alerts =
            rules.stream().filter(it -> it.has("alert")).toList();
    private final Map<String, Query> recorded = rules.stream()
            .filter(it -> it.has("record"))
            .collect(Collectors.toMap(it -> it.text("record"), it -> new Query(it.text("expr"))));

    AlertsTest() throws IOException {}

    @Test
    void eachRuleUsesExistingSeriesAndLabels() {
        assertThat(recorded.values()).hasSize(1).allSatisfy(it -> it.isAnsweredBy(exposition));
        assertThat(alerts).hasSize(9).allSatisfy(alert -> {
            Query query = queryOf(alert);
            query.isAnsweredBy(exposition);
            query.gives(alert.part("annotations").text("summary"));
            query.gives(alert.part("annotations").text("description"));
        });
    }

    /** Returns the query of an alert. For a recorded result, it returns the query of the record. */
    private Query queryOf(Part alert) {
        String text = alert.text("expr");
        return recorded.getOrDefault(text.substring(0, text.indexOf(' ')), new Query(text));
    }

    @Test
    void eachAlertIsTested() throws IOException {
        List<Part> tested = Part.read(Files.readString(FILE.resolveSibling("alerts-test.yml"))).parts("tests").stream()
                .flatMap(it -> it.parts("alert_rule_test").stream())
                .filter(it -> !it.parts("exp_alerts").isEmpty())
                .toList();

        assertThat(alerts)
                .extracting(it -> it.text("alert"))
                .containsExactlyInAnyOrderElementsOf(
                        tested.stream().map(it -> it.text("alertname")).toList());
    }

    @Test
    void thePageHasEachAlertAndEachFile() throws IOException {
        String page = Files.readString(FILE.resolveSibling("../../../docs/reference/metrics.md"));

        assertThat(alerts)
                .allSatisfy(it -> assertThat(page)
                        .containsPattern("\\| `" + it.text("alert") + "` \\| .* \\| "
                                + it.part("labels").text("severity") + " \\|"));
        assertThat(Arrays.stream(FILE.getParent().toFile().list()))
                .hasSize(3)
                .allSatisfy(it -> assertThat(page).contains("integrations/micrometer/dashboards/" + it));
    }
}
