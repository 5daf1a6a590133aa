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
 * Fails each test that leaves something behind: a claim, a watch, a key. Runs after the test's own {@code @AfterEach} methods.
 *
 * <pre>{@code
 * @RegisterExtension
 * final LeftoversExtension leftovers = new LeftoversExtension().watch("store", () -> store.contents());
 * }</pre>
 */
public final class LeftoversExtension implements AfterEachCallback {

    private final Map<String, Supplier<? extends Collection<?>>> places = new LinkedHashMap<>();

    /** Watches nothing yet. */
    public LeftoversExtension() {}

    /**
     * Looks there after each test.
     *
     * @param place its name, for the message
     * @param contents what is there now; empty when nothing is left
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
