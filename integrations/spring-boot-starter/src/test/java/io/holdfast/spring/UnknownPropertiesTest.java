package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ByteArrayResource;

/** The log lines about properties that Spring would ignore silently. */
class UnknownPropertiesTest {

    private static List<String> unknown(Map<String, Object> properties) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
        return UnknownProperties.in(environment).stream()
                .map(it -> it.getName().toString())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "holdfast.lease-duraton",
                "holdfast.redis.url",
                "holdfast.redlock.uris-of-masters",
                "holdfast.zookeeper.auth.user",
                "holdfast.etcd.endpoint",
                "holdfast.locsk.stock.lease-duration"
            })
    void aNameThatDoesNotExistIsFound(String name) {
        assertThat(unknown(Map.of(name, "1s", "holdfast.lease-duration", "20s")))
                .containsExactly(name);
    }

    @Test
    void existingNamesAreAcceptedInAnySpelling() {
        assertThat(unknown(Map.ofEntries(
                        Map.entry("holdfast.backend", "redis"),
                        Map.entry("holdfast.leaseDuration", "20s"),
                        Map.entry("HOLDFAST.wait_timeout", "20s"),
                        Map.entry("holdfast.owner", ""),
                        Map.entry("holdfast.max-hold-time", ""),
                        Map.entry("holdfast.redis.cluster-uris[0]", "redis://a"),
                        Map.entry("holdfast.redis.cluster-uris[1]", "redis://b"),
                        Map.entry("holdfast.redis.ssl.bundle", "locks"),
                        Map.entry("holdfast.redlock.uris", "redis://a,redis://b,redis://c"),
                        Map.entry("holdfast.redlock.share-client-resources", "true"),
                        Map.entry("holdfast.zookeeper.acl", "open"),
                        Map.entry("holdfast.etcd.endpoints[0]", "http://a:2379"),
                        Map.entry("holdfast.r2dbc.claim-time", "1s"),
                        Map.entry("holdfasten.other", "1"),
                        Map.entry("management.health.holdfast.enabled", "true"))))
                .isEmpty();
    }

    @Test
    void aProfileWhoseNameSpringChangesIsFound() {
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test",
                        Map.of(
                                "holdfast.locks.stock/*.wait-timeout", "1s",
                                "holdfast.locks.[stock/42].wait-timeout", "1s",
                                "holdfast.locks[order:1].backoff.first", "1s",
                                "holdfast.locks.nightly-job.min-hold-time", "1s",
                                "holdfast.locksmith.a/b", "1s")));

        assertThat(UnknownProperties.profilesWithoutBrackets(environment))
                .containsExactly("holdfast.locks.stock/*.wait-timeout");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void aProfileWhoseNameSpringChangesIsLogged(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.backend=memory", "holdfast.locks.stock/*.wait-timeout=1s")
                .run(context -> assertThat(context).hasSingleBean(LockClient.class));

        assertThat(output.getOut())
                .contains("holdfast.locks.stock/*.wait-timeout counts for a lock of another name")
                .contains("holdfast.locks.[stock/*]");
    }

    @Test
    void anInvalidValueIsLeftToTheBinding() {
        assertThat(unknown(Map.of("holdfast.lease-duration", "soon"))).isEmpty();
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void theLineHasThePlaceAndNotTheValue(CapturedOutput output) throws IOException {
        var file = new PropertiesPropertySourceLoader()
                .load(
                        "application.properties",
                        new ByteArrayResource(
                                "holdfast.backend=memory\nholdfast.redis.pasword=secret\n"
                                        .getBytes(StandardCharsets.ISO_8859_1),
                                "application.properties"));
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withInitializer(
                        context -> file.forEach(context.getEnvironment().getPropertySources()::addFirst))
                .run(context -> assertThat(context).hasSingleBean(LockClient.class));

        assertThat(output.getOut().lines().filter(it -> it.contains("does not exist")))
                .singleElement()
                .asString()
                .contains("holdfast.redis.pasword does not exist and is ignored")
                .contains("2:")
                .doesNotContain("secret");
    }
}
