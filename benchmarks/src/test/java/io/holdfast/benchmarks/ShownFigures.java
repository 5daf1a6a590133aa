package io.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A row of a page that shows what a run has measured.
 *
 * @param cells without emphasis
 * @param measured the rows of the report that the page names
 */
record ShownFigures(List<String> cells, List<List<String>> measured) {

    /** Says which report the next tables of a page are taken from; without one, it is that of Redis. */
    private static final Pattern OF = Pattern.compile("<!-- figures: ([\\w-]+) -->");

    private static final String DEFAULT = "redis";
    private static final String RULE = "| --- ";

    /** The first table of a report: what pages are compared with. */
    static List<List<String>> rowsOfReport(String report) {
        return report.lines()
                .dropWhile(it -> !it.startsWith(RULE))
                .skip(1)
                .takeWhile(it -> it.startsWith("|"))
                .map(ShownFigures::cells)
                .toList();
    }

    /** Every row of a table that has a column of ratios; of other tables, each row that begins as one of the report. */
    static List<ShownFigures> ofPage(String page, Map<String, List<List<String>>> reports) {
        List<ShownFigures> shown = new ArrayList<>();
        List<List<String>> measured = reports.getOrDefault(DEFAULT, List.of());
        List<String> header = List.of();
        for (String line : page.lines().toList()) {
            Matcher of = OF.matcher(line);
            if (of.matches()) {
                measured = reports.getOrDefault(of.group(1), List.of());
            }
            if (!line.startsWith("|")) {
                header = List.of();
            } else if (header.isEmpty()) {
                header = cells(line);
            } else if (!line.startsWith(RULE) && isOfFigures(header, cells(line), measured)) {
                shown.add(new ShownFigures(cells(line), measured));
            }
        }
        return shown;
    }

    private static boolean isOfFigures(List<String> header, List<String> cells, List<List<String>> measured) {
        return header.stream().anyMatch(it -> it.startsWith("ratio"))
                || measured.stream().anyMatch(it -> it.get(0).equals(cells.get(0)));
    }

    private static List<String> cells(String line) {
        return Arrays.stream(line.replace("*", "").split("\\|", -1))
                .map(String::strip)
                .skip(1)
                .toList();
    }

    /** Whether one row of the report has all of these cells, in this order. */
    boolean isMeasured() {
        return measured.stream().anyMatch(this::isPartOf);
    }

    private boolean isPartOf(List<String> row) {
        Iterator<String> rest = row.iterator();
        return row.get(0).equals(cells.get(0)) && cells.stream().allMatch(it -> isAhead(it, rest));
    }

    private static boolean isAhead(String cell, Iterator<String> rest) {
        while (rest.hasNext()) {
            if (rest.next().equals(cell)) {
                return true;
            }
        }
        return false;
    }
}
