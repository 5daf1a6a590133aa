package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** An application does not start with an invalid annotation. The error says why. */
class LockedRefusalTest {

    static class Future {
        @Locked("a")
        public CompletableFuture<Void> call() {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Submitted {
        @Locked("a")
        public java.util.concurrent.Future<Void> call() {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Lazy {
        @Locked("a")
        public Stream<String> call() {
            return Stream.empty();
        }
    }

    static class Deferred {
        @Locked("a")
        public DeferredResult<String> call() {
            return new DeferredResult<>();
        }
    }

    static class StreamsABody {
        @Locked("a")
        public ResponseEntity<StreamingBody> call() {
            return ResponseEntity.ok(new StreamingBody());
        }
    }

    /** As StreamingResponseBody and the like, which need Spring MVC. */
    static class StreamingBody extends DeferredResult<String> {}

    static class EmitsABody {
        @Locked("a")
        public Mono<ResponseEntity<? extends Flux<String>>> call() {
            return Mono.just(ResponseEntity.ok(Flux.empty()));
        }
    }

    static class ManyLater {
        @Locked("a")
        public Flux<Map<String, CompletableFuture<Void>>> call() {
            return Flux.empty();
        }
    }

    static class SkipsResult {
        @Locked(value = "a", skipWhenTaken = true)
        public int call() {
            return 1;
        }
    }

    static class Final {
        @Locked("a")
        public final Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class Private {
        @Locked("a")
        private Mono<Void> call() {
            return Mono.empty();
        }

        Mono<Void> used() {
            return call();
        }
    }

    static class Blank {
        @Locked(" ")
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class Open {
        @Locked("stock/{#item")
        public Mono<Void> call(String item) {
            return Mono.empty();
        }
    }

    static class Misspelt {
        @Locked("stock/{#itm.id}")
        public Mono<Void> call(String item) {
            return Mono.empty();
        }
    }

    static class OutsideBraces {
        @Locked("#item")
        public Mono<Void> call(String item) {
            return Mono.empty();
        }
    }

    static class OutsideBracesByPosition {
        @Locked("'stock/' + #p0 + '/' + #unknown")
        public Mono<Void> call(String item) {
            return Mono.empty();
        }
    }

    static class NoHash {
        @Locked("stock/{item}")
        public Mono<Void> call(String item) {
            return Mono.empty();
        }
    }

    static class NoHashOfProperty {
        @Locked("stock/{item.length()}")
        public Mono<Void> call(String item) {
            return Mono.empty();
        }
    }

    static class NoPermits {
        @Locked(value = "a", kind = Locked.Kind.SEMAPHORE)
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class PermitsOfMutex {
        @Locked(value = "a", permits = "2")
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class BadDuration {
        @Locked(value = "a", waitTimeout = "soon")
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class Misfit {
        @Locked(value = "a", leaseDuration = "10s", maxHoldTime = "1s")
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class MisfitOfClient {
        @Locked(value = "a", leaseDuration = "1s")
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class NoBean {
        @Locked(value = "a", options = "patient")
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class NoProperty {
        @Locked("a/${shop.missing}")
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static class SkipsAndWaits {
        @Locked(value = "a", skipWhenTaken = true, waitTimeout = "1s")
        public Mono<Void> call() {
            return Mono.empty();
        }
    }

    static Arguments[] refused() {
        return new Arguments[] {
            Arguments.of(Future.class, "its result is or contains a CompletableFuture, which goes on"),
            Arguments.of(Submitted.class, "its result is or contains a Future, which goes on"),
            Arguments.of(Lazy.class, "its result is or contains a Stream, which goes on"),
            Arguments.of(Deferred.class, "its result is or contains a DeferredResult, which goes on"),
            Arguments.of(StreamsABody.class, "its result is or contains a StreamingBody, which goes on"),
            Arguments.of(EmitsABody.class, "its result is or contains a Flux, which goes on"),
            Arguments.of(ManyLater.class, "its result is or contains a CompletableFuture, which goes on"),
            Arguments.of(SkipsResult.class, "it has skipWhenTaken, but returns a result"),
            Arguments.of(Final.class, "a public final method cannot be intercepted"),
            Arguments.of(Private.class, "a private method cannot be intercepted"),
            Arguments.of(Blank.class, "the name of the lock is blank"),
            Arguments.of(Open.class, "the name \"stock/{#item\" cannot be read"),
            Arguments.of(Misspelt.class, "has #itm, but the variables are [item, p0, this]"),
            Arguments.of(
                    OutsideBraces.class,
                    "the name \"#item\" has #item outside braces, so all calls would share one lock"),
            Arguments.of(OutsideBracesByPosition.class, "has #p0 outside braces"),
            Arguments.of(NoHash.class, "the name \"stock/{item}\" has {item}, which does not begin with a variable"),
            Arguments.of(NoHashOfProperty.class, "has {item.length()}, which does not begin with a variable"),
            Arguments.of(NoPermits.class, "permits: a semaphore needs a number, such as permits = \"3\""),
            Arguments.of(PermitsOfMutex.class, "permits: only a semaphore has permits, but the kind is MUTEX"),
            Arguments.of(BadDuration.class, "waitTimeout: 'soon' is not a valid"),
            Arguments.of(Misfit.class, "maxHoldTime must be at least leaseDuration"),
            Arguments.of(MisfitOfClient.class, "operationTimeout"),
            Arguments.of(NoBean.class, "there is no bean \"patient\" of the type LockOptions"),
            Arguments.of(NoProperty.class, "shop.missing"),
            Arguments.of(SkipsAndWaits.class, "does not wait"),
        };
    }

    @ParameterizedTest
    @MethodSource("refused")
    void theApplicationDoesNotStart(Class<?> bean, String why) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        HoldfastAutoConfiguration.class,
                        HoldfastLockedAutoConfiguration.class,
                        org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration.class))
                .withPropertyValues("holdfast.backend=memory", "holdfast.operation-timeout=1s")
                .withBean(bean)
                .run(context -> {
                    assertThat(context).hasFailed();
                    FailureAnalysis analysis = new InvalidLockedMethodAnalyzer().analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .startsWith("@Locked on %s.call: ".formatted(bean.getSimpleName()))
                            .contains(why);
                    assertThat(analysis.getAction()).endsWith(".");
                });
    }

    @Test
    void aNameThatCannotBeReadAtACallIsAnErrorWithItsMethod() throws Exception {
        LockedName name = LockedName.of("a/{#p0.size}", String.class.getMethod("concat", String.class));

        assertThatThrownBy(() -> name.of(new Object[] {"b"}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "@Locked on String.concat: {#p0.size} in the name of the lock cannot be read: EL1008E:"
                                + " Property or field 'size'");
        assertThatThrownBy(() -> name.of(new Object[] {null}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "@Locked on String.concat: {#p0.size} in the name of the lock cannot be read: ");
    }

    static class Order {}

    static class LazyOrder extends Order {

        private final Order loaded = new Order();

        @Override
        public String toString() {
            return loaded.toString(); // as a proxy of Hibernate
        }
    }

    /** Otherwise equal arguments would have different locks, so the lock would never exclude. */
    @Test
    void anArgumentWithoutATextOfItsOwnTakesNoLock() throws Exception {
        LockedName name = LockedName.of("order/{#p0}", String.class.getMethod("concat", String.class));

        for (Object order : new Object[] {new Order(), new LazyOrder(), new String[] {"a"}, List.of(new Order())}) {
            assertThatThrownBy(() -> name.of(new Object[] {order}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("@Locked on String.concat: {#p0} in the name of the lock is a %s without"
                            .formatted(order.getClass().getSimpleName()));
        }
        for (Object text : new Object[] {"Order@1", 42, List.of("a", 1), LockedName.class, Duration.ZERO}) {
            assertThat(name.of(new Object[] {text})).isEqualTo("order/" + text);
        }
    }

    @Test
    void aHashThatIsNoVariableIsPlainText() throws Exception {
        assertThat(LockedName.of("channel#1/{#p0}", String.class.getMethod("concat", String.class))
                        .of(new Object[] {"b"}))
                .isEqualTo("channel#1/b");
    }

    @Test
    void aClassWithoutTheNamesOfItsParametersIsRefusedWithARemedy() throws Exception {
        assertThatThrownBy(() -> LockedName.of("a/{#item}", String.class.getMethod("concat", String.class)))
                .hasMessageContaining("the variables are [p0, this]")
                .hasMessageContaining("Compile the class with -parameters");
        assertThat(LockedName.of("a/{#p0}", String.class.getMethod("concat", String.class))
                        .of(new Object[] {"b"}))
                .isEqualTo("a/b");
    }
}
