package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The dashboard for Grafana uses existing series. */
class DashboardTest {

    private static final Path FILE = Path.of("dashboards/grafana.json").toAbsolutePath();
    private static final int WIDTH = 24;
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{?(\\w+)");
    private static final Set<String> OF_GRAFANA = Set.of("__rate_interval", "__range");

    private final Exposition exposition = new Exposition(Everything.run().meters.scrape());
    private final String text = Files.readString(FILE);
    private final Part dashboard = Part.read(text);
    private final List<Part> panels = dashboard.parts("panels").stream()
            .filter(it -> !it.text("type").equals("row"))
            .toList();

    DashboardTest() throws IOException {}

    private List<Part> targets() {
        return panels.stream().flatMap(it -> it.parts("targets").stream()).toList();
    }

    @Test
    void eachQueryUsesExistingSeriesAndLabels() {
        assertThat(targets()).hasSizeGreaterThan(panels.size()).allSatisfy(target -> {
            Query query = new Query(target.text("expr"));
            query.isAnsweredBy(exposition);
            query.gives(target.text("legendFormat"));
        });
    }

    @Test
    void eachDocumentedMeterHasAPanel() {
        Set<String> shown = targets().stream()
                .flatMap(it -> new Query(it.text("expr")).series().stream())
                .collect(Collectors.toSet());

        assertThat(LockMeterDocumentation.values())
                .extracting(it -> exposition.nameOf(it.getDescription()))
                .allSatisfy(name -> assertThat(shown).anyMatch(it -> it.startsWith(name)));
    }

    @Test
    void eachVariableIsDeclaredAndUsesAnExistingSeries() {
        List<Part> variables = dashboard.part("templating").parts("list");
        Set<String> names = new HashSet<>(OF_GRAFANA);
        variables.forEach(it -> names.add(it.text("name")));

        assertThat(VARIABLE.matcher(text).results().map(it -> it.group(1)))
                .filteredOn(it -> !it.equals("__all"))
                .isNotEmpty()
                .isSubsetOf(names);
        assertThat(variables.stream().filter(it -> it.text("type").equals("query")))
                .hasSize(3)
                .allSatisfy(it -> new Query(it.text("definition")).isAnsweredBy(exposition));
    }

    /** Checks Grafana's schema of dashboards as far as possible without Grafana. */
    @Test
    void eachPanelHasAPlaceAnIdAndASource() {
        List<Part> all = dashboard.parts("panels");
        assertThat(all).extracting(it -> it.number("id")).doesNotHaveDuplicates();
        assertThat(dashboard.number("schemaVersion")).isEqualTo(39);
        assertThat(dashboard.text("uid")).hasSizeLessThanOrEqualTo(40);
        assertThat(panels).hasSize(21).allSatisfy(panel -> {
            assertThat(panel.text("type")).isIn("timeseries", "stat");
            assertThat(panel.text("title")).isNotBlank();
            assertThat(panel.text("description")).endsWith(".");
            assertThat(panel.part("fieldConfig").part("defaults").text("unit")).isIn("short", "s", "ops");
            assertThat(panel.parts("targets"))
                    .extracting(it -> it.text("refId"))
                    .doesNotHaveDuplicates();
            assertThat(panel.part("datasource").text("uid")).isEqualTo("${datasource}");
        });
        assertThat(all.stream().flatMap(it -> cells(it.part("gridPos")).stream()))
                .doesNotHaveDuplicates();
    }

    /** Returns rows and columns of a place. */
    private static List<List<Integer>> cells(Part place) {
        List<List<Integer>> cells = new ArrayList<>();
        assertThat(place.number("x") + place.number("w")).isBetween(1, WIDTH);
        for (int y = place.number("y"); y < place.number("y") + place.number("h"); y++) {
            for (int x = place.number("x"); x < place.number("x") + place.number("w"); x++) {
                cells.add(List.of(y, x));
            }
        }
        return cells;
    }

    @Test
    void aQueryOfAMissingSeriesIsFound() {
        for (String wrong : List.of(
                "sum(holdfast_lock_lost_total)",
                "holdfast_lock_losses_total{family=\"stock\"}",
                "holdfast_lock_losses_total{reason=~\"expired|stolen\"}",
                "sum by (outcome) (holdfast_lock_losses_total)")) {
            assertThat(isAnswered(wrong)).as(wrong).isFalse();
        }
        assertThat(isAnswered("sum by (reason) (holdfast_lock_losses_total)")).isTrue();
    }

    private boolean isAnswered(String query) {
        try {
            new Query(query).isAnsweredBy(exposition);
            return true;
        } catch (AssertionError missing) {
            return false;
        }
    }
}
