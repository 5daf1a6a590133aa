package io.holdfast.benchmarks.watch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/**
 * The observation of one process.
 *
 * @param observation its name, such as {@code HandOff}
 * @param params its parameters
 * @param values the measured numbers by their names with units
 */
public record Observation(String observation, Map<String, String> params, Map<String, Double> values) {

    /** Writes the JSON that {@link io.holdfast.benchmarks.report.ResultFiles} reads. */
    public String toJson() {
        try {
            return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("texts and numbers cannot be written", e);
        }
    }
}
