package io.holdfast.benchmarks.chart;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** An SVG that is being drawn. Its style has the colours that it uses, twice: for light and for dark pages. */
final class Canvas {

    /** Which point of a text its place is. */
    enum Anchor {
        START,
        MIDDLE,
        END
    }

    /** Readers who see no colours tell lines apart by these. */
    enum Shape {
        CIRCLE,
        SQUARE,
        TRIANGLE,
        DIAMOND
    }

    private static final double RADIUS = 4.5;
    private static final double CAP = 4;

    private final StringBuilder body = new StringBuilder();
    private final Set<Tone> fills = EnumSet.of(Tone.PAGE);
    private final Set<Tone> strokes = EnumSet.noneOf(Tone.class);
    private final Set<Font> fonts = EnumSet.noneOf(Font.class);

    void text(Font font, Tone tone, Anchor anchor, Point at, String text) {
        fonts.add(font);
        String place = anchor == Anchor.START
                ? ""
                : " text-anchor=\"%s\"".formatted(anchor.name().toLowerCase(Locale.ROOT));
        add("<text class=\"%s %s\" x=\"%s\" y=\"%s\"%s>%s</text>"
                .formatted(font.type(), fill(tone), number(at.x()), number(at.y()), place, escaped(text)));
    }

    void bar(Tone tone, Point corner, double width, double height) {
        add("<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>"
                .formatted(fill(tone), number(corner.x()), number(corner.y()), number(width), number(height)));
    }

    void line(Tone tone, double width, List<Point> points) {
        String path = points.stream()
                .map(it -> number(it.x()) + "," + number(it.y()))
                .collect(Collectors.joining(" L", "M", ""));
        add("<path class=\"%s\" fill=\"none\" stroke-width=\"%s\" d=\"%s\"/>"
                .formatted(stroke(tone), number(width), path));
    }

    /** A line between two values with a cap at each, on a broader line of the page's colour that keeps it apart from what is behind it. */
    void whisker(Tone tone, Point from, Point to) {
        boolean isLevel = from.y() == to.y();
        double aside = isLevel ? 0 : CAP;
        double down = isLevel ? CAP : 0;
        for (Tone each : List.of(Tone.PAGE, tone)) {
            double width = each == tone ? 1.5 : 3.5;
            line(each, width, List.of(from, to));
            for (Point end : List.of(from, to)) {
                line(
                        each,
                        width,
                        List.of(end.right(-aside).down(-down), end.right(aside).down(down)));
            }
        }
    }

    void mark(Shape shape, Tone tone, Point at) {
        add("<path class=\"%s %s\" stroke-width=\"1\" d=\"%s\"/>"
                .formatted(fill(tone), stroke(Tone.PAGE), outline(shape, at)));
    }

    /** An empty one. */
    void hollow(Shape shape, Tone tone, Point at) {
        add("<path class=\"%s %s\" stroke-width=\"2\" d=\"%s\"/>"
                .formatted(fill(Tone.PAGE), stroke(tone), outline(shape, at)));
    }

    private static String outline(Shape shape, Point at) {
        String begin = "M%s,%s ".formatted(number(at.x()), number(at.y()));
        return begin
                + switch (shape) {
                    case CIRCLE ->
                        "m-%1$s,0 a%1$s,%1$s 0 1,0 %2$s,0 a%1$s,%1$s 0 1,0 -%2$s,0 z"
                                .formatted(number(RADIUS), number(2 * RADIUS));
                    case SQUARE -> "m-4,-4 h8 v8 h-8 z";
                    case TRIANGLE -> "m0,-5.5 l5.5,9.5 h-11 z";
                    case DIAMOND -> "m0,-6 l6,6 l-6,6 l-6,-6 z";
                };
    }

    private void add(String element) {
        body.append(element).append('\n');
    }

    private String fill(Tone tone) {
        fills.add(tone);
        return tone.fill();
    }

    private String stroke(Tone tone) {
        strokes.add(tone);
        return tone.stroke();
    }

    /**
     * The file.
     *
     * @param title what a reader who cannot see it hears first
     * @param description all that it shows, as text
     */
    String toSvg(int width, double height, String title, String description) {
        return """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$s" width="%1$d" height="%2$s" role="img" aria-labelledby="title desc"
                     font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif">
                <title id="title">%3$s</title>
                <desc id="desc">%4$s</desc>
                <style>
                text{font-variant-numeric:tabular-nums}
                %5$s
                %6$s
                @media (prefers-color-scheme:dark){
                %7$s
                }
                </style>
                <rect class="page" width="%1$d" height="%2$s" rx="8"/>
                %8$s</svg>
                """.formatted(
                        width,
                        number(height),
                        escaped(title),
                        escaped(description),
                        fonts.stream().map(Font::rule).collect(Collectors.joining()),
                        colours(Tone::light),
                        colours(Tone::dark),
                        body);
    }

    private String colours(Function<Tone, String> scheme) {
        StringBuilder rules = new StringBuilder();
        fills.forEach(it -> rules.append(".%s{fill:%s}".formatted(it.fill(), scheme.apply(it))));
        strokes.forEach(it -> rules.append(".%s{stroke:%s}".formatted(it.stroke(), scheme.apply(it))));
        return rules.toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private static String number(double pixels) {
        String text = String.format(Locale.ROOT, "%.1f", pixels);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }
}
