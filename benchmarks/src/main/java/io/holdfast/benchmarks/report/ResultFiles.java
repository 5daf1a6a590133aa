package io.holdfast.benchmarks.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What JMH and the observations write, read. */
public final class ResultFiles {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PARAMETERS = "params";

    private ResultFiles() {}

    /**
     * Reads what JMH wrote.
     *
     * @param json its result file
     * @param round of the run that the file is of
     * @throws IllegalArgumentException if it is no such file
     */
    public static List<Sample> ofJmh(String json, int round) {
        List<Sample> samples = new ArrayList<>();
        for (JsonNode entry : read(json)) {
            String benchmark = benchmark(entry.path("benchmark").asText());
            Map<String, String> parameters = texts(entry.path(PARAMETERS));
            double score = entry.path("primaryMetric").path("score").asDouble(Double.NaN);
            if (!Double.isFinite(score)) {
                throw new IllegalArgumentException("no score of %s with %s".formatted(benchmark, parameters));
            }
            samples.add(new Sample(benchmark, parameters, Sample.THROUGHPUT, score, round));
            JsonNode allocation = entry.path("secondaryMetrics").path("gc.alloc.rate.norm");
            if (allocation.has("score")) {
                double bytes = allocation.path("score").asDouble();
                samples.add(new Sample(benchmark, parameters, Sample.ALLOCATION, bytes, round));
            }
        }
        return samples;
    }

    /**
     * What JMH wrote, without the paths, ports and process numbers of the machine, which mean nothing elsewhere.
     *
     * @param json its result file
     * @throws IllegalArgumentException if it is no JSON
     */
    public static String withoutPlaces(String json) {
        JsonNode entries = read(json);
        for (JsonNode entry : entries) {
            if (entry instanceof ObjectNode fields) {
                ObjectNode unused = fields.remove(List.of("jvm", "jvmArgs"));
            }
        }
        return pretty(entries);
    }

    /**
     * Reads what an observation wrote.
     *
     * @param json of one observation
     * @param round of the run
     * @throws IllegalArgumentException if it is none
     */
    public static List<Sample> ofObservation(String json, int round) {
        JsonNode entry = read(json);
        String name = entry.path("observation").asText();
        Map<String, String> parameters = texts(entry.path(PARAMETERS));
        List<Sample> samples = new ArrayList<>();
        entry.path("values")
                .properties()
                .forEach(it -> samples.add(
                        new Sample(name, parameters, it.getKey(), it.getValue().asDouble(), round)));
        if (name.isEmpty() || samples.isEmpty()) {
            throw new IllegalArgumentException("not an observation: " + json);
        }
        return samples;
    }

    /** The class, without its package and its method. */
    private static String benchmark(String fullName) {
        String[] parts = fullName.split("\\.", -1);
        if (parts.length < 2) {
            throw new IllegalArgumentException("not the name of a benchmark: '%s'".formatted(fullName));
        }
        return parts[parts.length - 2];
    }

    private static Map<String, String> texts(JsonNode node) {
        Map<String, String> texts = new TreeMap<>();
        node.properties().forEach(it -> texts.put(it.getKey(), it.getValue().asText()));
        return texts;
    }

    /**
     * Reads an object of texts, in its order.
     *
     * @throws IllegalArgumentException if it is no JSON
     */
    public static Map<String, String> ofTexts(String json) {
        Map<String, String> texts = new LinkedHashMap<>();
        read(json)
                .properties()
                .forEach(it -> texts.put(it.getKey(), it.getValue().asText()));
        return texts;
    }

    /** The other way round. */
    public static String toJson(Map<String, String> texts) {
        return pretty(texts);
    }

    private static String pretty(Object value) {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("cannot be written: " + value, e);
        }
    }

    private static JsonNode read(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
        }
    }
}
