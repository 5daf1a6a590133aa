package io.holdfast.benchmarks.chart;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

/**
 * An SVG file, read again.
 *
 * @param document of the file
 */
public record Drawn(Document document) {

    /** So many places of a piece of a line are looked at. */
    private static final int STEPS = 200;

    /** A part of the picture, in pixels. */
    public record Box(double left, double top, double right, double bottom, String what) {

        public boolean overlaps(Box other) {
            return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
        }

        public boolean isWithin(Box other) {
            return left >= other.left && right <= other.right && top >= other.top && bottom <= other.bottom;
        }
    }

    public static Drawn of(String svg) throws Exception {
        return new Drawn(DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(svg))));
    }

    private List<Element> elements(String name) {
        var nodes = document.getElementsByTagName(name);
        return IntStream.range(0, nodes.getLength())
                .mapToObj(it -> (Element) nodes.item(it))
                .toList();
    }

    String only(String name) {
        return elements(name).get(0).getTextContent();
    }

    List<String> texts() {
        return elements("text").stream().map(Element::getTextContent).toList();
    }

    Element text(String content) {
        return elements("text").stream()
                .filter(it -> it.getTextContent().equals(content))
                .findFirst()
                .orElseThrow();
    }

    public Box page() {
        return box(elements("rect").get(0));
    }

    /** What the reader sees as a bar. */
    List<Box> bars() {
        return elements("rect").stream()
                .filter(it -> !List.of("page", "shade").contains(it.getAttribute("class")))
                .map(Drawn::box)
                .toList();
    }

    private static Box box(Element rect) {
        double x = number(rect, "x");
        double y = number(rect, "y");
        return new Box(
                x, y, x + number(rect, "width"), y + number(rect, "height"), "a bar, " + rect.getAttribute("class"));
    }

    /** Pairs of a text and of what covers it, whatever font its reader has. */
    public List<String> covered() {
        List<String> covered = new ArrayList<>();
        List<Box> labels = labels();
        for (int i = 0; i < labels.size(); i++) {
            Box label = labels.get(i);
            Stream.of(labels.subList(i + 1, labels.size()), bars(), marks(), strokes())
                    .flatMap(List::stream)
                    .filter(label::overlaps)
                    .forEach(it -> covered.add("%s, by %s".formatted(label, it)));
        }
        return covered;
    }

    /** What is not on the page as a whole. */
    public List<Box> outside() {
        return Stream.of(labels(), bars(), marks())
                .flatMap(List::stream)
                .filter(it -> !it.isWithin(page()))
                .toList();
    }

    /** Where each text may be at most, whatever font its reader has. */
    List<Box> labels() {
        return elements("text").stream().map(Drawn::label).toList();
    }

    private static Box label(Element text) {
        Font font = Font.valueOf(text.getAttribute("class").split(" ", 2)[0].toUpperCase(Locale.ROOT));
        double width = font.width(text.getTextContent());
        double before = switch (text.getAttribute("text-anchor")) {
            case "end" -> width;
            case "middle" -> width / 2;
            default -> 0;
        };
        double left = number(text, "x") - before;
        double y = number(text, "y");
        return new Box(left, y - 0.8 * font.size(), left + width, y + 0.2 * font.size(), text.getTextContent());
    }

    /** The lines of one colour, each with its points. A whisker is one of two points, and so is each of its caps. */
    List<List<Point>> lines(Tone tone) {
        List<List<Point>> lines = new ArrayList<>();
        for (Element path : elements("path")) {
            if (path.getAttribute("class").equals(tone.stroke())) {
                List<Point> points = new ArrayList<>();
                for (String point : path.getAttribute("d").substring(1).split(" L", -1)) {
                    String[] numbers = point.split(",", 2);
                    points.add(new Point(Double.parseDouble(numbers[0]), Double.parseDouble(numbers[1])));
                }
                lines.add(points);
            }
        }
        return lines;
    }

    /** Points of the lines and whiskers of all libraries, one beside the other. */
    private List<Box> strokes() {
        List<Box> strokes = new ArrayList<>();
        for (Tone tone : List.of(Tone.HOLDFAST, Tone.ORANGE, Tone.GREEN, Tone.PURPLE, Tone.LIMIT)) {
            for (List<Point> line : lines(tone)) {
                for (int i = 1; i < line.size(); i++) {
                    for (int step = 0; step <= STEPS; step++) {
                        double share = (double) step / STEPS;
                        double x =
                                line.get(i - 1).x() * (1 - share) + line.get(i).x() * share;
                        double y =
                                line.get(i - 1).y() * (1 - share) + line.get(i).y() * share;
                        strokes.add(new Box(x - 1, y - 1, x + 1, y + 1, "a line, " + tone));
                    }
                }
            }
        }
        return strokes;
    }

    /** The middles of the marks of one colour, filled or empty. */
    List<Box> marks() {
        return elements("path").stream()
                .filter(it -> it.getAttribute("class").contains(" "))
                .map(Drawn::mark)
                .toList();
    }

    private static Box mark(Element path) {
        String[] middle = path.getAttribute("d").substring(1).split(" ", 2)[0].split(",", 2);
        double x = Double.parseDouble(middle[0]);
        double y = Double.parseDouble(middle[1]);
        return new Box(x - 5, y - 5, x + 5, y + 5, path.getAttribute("class"));
    }

    /** Its colours: all that it uses have to be there, in both schemes. */
    String style() {
        return only("style");
    }

    List<String> classes() {
        return List.of("text", "rect", "path").stream()
                .flatMap(it -> elements(it).stream())
                .flatMap(it -> List.of(it.getAttribute("class").split(" ")).stream())
                .distinct()
                .toList();
    }

    private static double number(Element element, String attribute) {
        String text = element.getAttribute(attribute);
        return text.isEmpty() ? 0 : Double.parseDouble(text);
    }
}
