package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every change of the public API changes its listing. */
public class PublicApiTest {

    static List<PublishedModule> published() {
        return Repository.published();
    }

    @ParameterizedTest
    @MethodSource("published")
    void theApiIsThatOfItsListing(PublishedModule module) throws IOException {
        List<Class<?>> types = module.classes().stream()
                .filter(it -> !(it.getPackageName() + ".").contains(".internal."))
                .toList();
        String text = "# " + module.artifact() + ": what users can call, without io.holdfast.internal\n"
                + ApiListing.of(types);

        Repository.assertUpToDate(module.path().resolve("api.txt"), text, "PublicApiTest");
    }

    @Test
    void aListingHasAllThatOtherPackagesCanName() {
        assertThat(ApiListing.of(
                        List.of(Shown.class, Shown.Kind.class, Shown.Row.class, Shown.Family.class, Hidden.class)))
                .isEqualTo("""

                public abstract static class io.holdfast.checks.PublicApiTest.Shown<T extends @Nullable Object & Comparable<T>> implements AutoCloseable
                  protected Shown(java.time.@Nullable Duration)
                  protected static final int SIZE = 3
                  public <E extends Exception> java.util.Map<String, ? extends @Nullable T> map(Class<E>, String...) throws E
                  public @Deprecated void old()
                  public @Nullable String fromHidden(String @Nullable [])
                  public void close()

                public enum io.holdfast.checks.PublicApiTest.Shown.Kind
                  constants SECOND, FIRST

                public record io.holdfast.checks.PublicApiTest.Shown.Row(@Nullable String name, int size)
                  public boolean isEmpty()

                public sealed interface io.holdfast.checks.PublicApiTest.Shown.Family permits io.holdfast.checks.PublicApiTest.Shown.Member
                  default boolean isOld()
                """.replace("java.time.@Nullable Duration", "@Nullable java.time.Duration"));
    }

    abstract static class Hidden {

        public @Nullable String fromHidden(String @Nullable [] names) {
            return names == null ? null : names[0];
        }
    }

    /** An example of everything. */
    public abstract static class Shown<T extends @Nullable Object & Comparable<T>> extends Hidden
            implements AutoCloseable {

        protected static final int SIZE = 3;
        static final int NOT_LISTED = 4;

        protected Shown(@Nullable Duration pause) {}

        public <E extends Exception> Map<String, ? extends @Nullable T> map(Class<E> type, String... names) throws E {
            return Map.of();
        }

        /** Old. */
        @Deprecated
        public void old() {}

        @Override
        public void close() {}

        Optional<String> notListed() {
            return Optional.empty();
        }

        /** In an order that matters. */
        public enum Kind {
            SECOND,
            FIRST
        }

        /** Its accessors are not repeated. */
        public record Row(@Nullable String name, int size) {

            public boolean isEmpty() {
                return size == 0;
            }
        }

        /** Of which one member is hidden. */
        public sealed interface Family permits Member, HiddenMember {

            default boolean isOld() {
                return false;
            }
        }

        /** Listed where it is permitted. */
        public static final class Member implements Family {}

        static final class HiddenMember implements Family {}
    }
}
