package io.holdfast.benchmarks.chart;

import java.util.Locale;

/** A colour by its purpose, for light and for dark pages. Readers who confuse red and green can tell those of the libraries apart. */
public enum Tone {
    /** Behind everything. */
    PAGE("#ffffff", "#0d1117"),
    /** Titles, names and values. */
    TEXT("#1f2328", "#e6edf3"),
    /** Notes and the numbers of a scale. */
    QUIET("#57606a", "#9aa4af"),
    /** The lines of a scale. */
    GRID("#d8dee4", "#30363d"),
    /** The side on which Holdfast is worse. */
    SHADE("#f3f4f6", "#161b22"),
    /** This library, in every chart. */
    HOLDFAST("#0b62c4", "#58a6ff"),
    /** What is no lock, but a limit. */
    LIMIT("#818b98", "#6e7681"),
    /** A ratio that is worse than 1. */
    LOSS("#b3400a", "#ff9a5c"),
    /** The first of the other libraries. */
    ORANGE("#d9700d", "#f0a04b"),
    /** The second one. */
    GREEN("#1b7a3d", "#3fb68b"),
    /** The third one. */
    PURPLE("#7a1f5c", "#f59ad3");

    private final String light;
    private final String dark;

    Tone(String light, String dark) {
        this.light = light;
        this.dark = dark;
    }

    /** On a light page, as {@code #rrggbb}. */
    public String light() {
        return light;
    }

    /** On a dark page, as {@code #rrggbb}. */
    public String dark() {
        return dark;
    }

    /** The class of shapes and texts that are filled with it. */
    String fill() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The class of lines that are drawn with it. */
    String stroke() {
        return fill() + "-line";
    }
}
