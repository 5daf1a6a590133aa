package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Needs no server: a refused connection needs an event loop, too. */
class RedlockResourcesTest {

    private static final Pattern EVENT_LOOP = Pattern.compile("lettuce-\\w+EventLoop-(\\d+)-\\d+");

    @Test
    void theMastersOfARedlockShareOneGroupOfEventLoops() {
        Set<Integer> before = groups();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues(
                        "holdfast.backend=redlock",
                        "holdfast.redlock.uris=redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3,redis://127.0.0.1:4,redis://127.0.0.1:5")
                .run(context -> {
                    LockBackend backend = context.getBean(LockBackend.class);
                    assertThat(backend).isInstanceOf(RedlockBackend.class);
                    backend.ping().onErrorComplete().block(Duration.ofSeconds(20));

                    Set<Integer> groups = groups();
                    groups.removeAll(before);
                    assertThat(groups).hasSize(1);
                });
    }

    /** Returns the numbers of the groups that have a thread. */
    private static Set<Integer> groups() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(it -> EVENT_LOOP.matcher(it.getName()))
                .filter(Matcher::matches)
                .map(it -> Integer.valueOf(it.group(1)))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
