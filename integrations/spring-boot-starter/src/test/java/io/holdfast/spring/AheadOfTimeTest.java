package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;

/** What Spring generates from the configuration when an application is built as a native image. */
class AheadOfTimeTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "holdfast.backend=memory",
                "holdfast.backend=redis, holdfast.redis.uri=redis://127.0.0.1:1, holdfast.redis.ssl.bundle=locks",
                "holdfast.backend=redis, spring.data.redis.host=127.0.0.1",
                "holdfast.backend=redlock, holdfast.redlock.uris=redis://a,redis://b,redis://c",
                "holdfast.backend=zookeeper, holdfast.zookeeper.connect-string=127.0.0.1:1",
                "holdfast.backend=etcd, holdfast.etcd.endpoints=http://127.0.0.1:1",
                "holdfast.backend=r2dbc",
                "any=thing"
            })
    void everyBeanCanBeMadeWithoutReadingTheConfiguration(String properties) {
        try (var context = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of(properties.split(", ", -1)).applyTo(context);
            context.register(
                    SslAutoConfiguration.class, DataRedisAutoConfiguration.class, HoldfastAutoConfiguration.class);
            InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
            var generation = new DefaultGenerationContext(
                    new ClassNameGenerator(ClassName.get("com.example", "Application")), files);

            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
            generation.writeGeneratedContent();

            assertThat(files.getGeneratedFiles(Kind.SOURCE).keySet())
                    .anyMatch(it -> it.startsWith("io/holdfast/spring/LockClientConfiguration")
                            || properties.equals("any=thing"))
                    .anyMatch(it -> it.startsWith("io/holdfast/spring/UnknownProperties"));
            // Binding, for the beans and for the names that do not exist.
            assertThat(RuntimeHintsPredicates.reflection()
                            .onType(HoldfastProperties.class)
                            .withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS))
                    .as("hints for the properties")
                    .matches(it -> RuntimeHintsPredicates.reflection()
                            .onType(HoldfastProperties.Ssl.class)
                            .test(generation.getRuntimeHints()));
        }
    }
}
