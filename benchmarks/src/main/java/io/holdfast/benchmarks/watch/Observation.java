package io.holdfast.benchmarks.watch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/**
 * What one process has seen.
 *
 * @param observation what it is, such as {@code HandOff}
 * @param params with which it ran
 * @param values numbers by the name of what was measured, with its unit
 */
public record Observation(String observation, Map<String, String> params, Map<String, Double> values) {

    /** As {@link io.holdfast.benchmarks.report.ResultFiles} reads it. */
    public String toJson() {
        try {
            return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("texts and numbers cannot be written", e);
        }
    }
}
