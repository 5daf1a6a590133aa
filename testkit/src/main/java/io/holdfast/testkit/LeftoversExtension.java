package io.holdfast.testkit;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails each test that leaves a claim, a watch, a key or other data behind. It runs after the test's own
 * {@code @AfterEach} methods.
 *
 * <pre>{@code
 * @RegisterExtension
 * final LeftoversExtension leftovers = new LeftoversExtension().watch("store", () -> store.contents());
 * }</pre>
 */
public final class LeftoversExtension implements AfterEachCallback {

    private final Map<String, Supplier<? extends Collection<?>>> places = new LinkedHashMap<>();

    /** Makes an extension without places to check. */
    public LeftoversExtension() {}

    /**
     * Adds a place to check after each test.
     *
     * @param place the name of the place, for the message
     * @param contents returns the present contents; empty when nothing is left
     * @return this
     */
    @CanIgnoreReturnValue
    public LeftoversExtension watch(String place, Supplier<? extends Collection<?>> contents) {
        places.put(requireNonNull(place, "place"), requireNonNull(contents, "contents"));
        return this;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        List<String> left = new ArrayList<>();
        places.forEach((place, contents) -> contents.get().forEach(it -> left.add(place + ": " + it)));
        if (!left.isEmpty()) {
            throw new AssertionError(
                    "%s left behind:%n  %s".formatted(context.getDisplayName(), String.join("%n  ".formatted(), left)));
        }
    }
}
