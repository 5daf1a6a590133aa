package io.holdfast.spring;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Logs each property under {@code holdfast} that does not exist, such as a misspelled one, because Spring ignores it. It also logs each
 * profile of locks whose name Spring changes. It runs before any bean is made, so the line is logged even if the application does not
 * start.
 */
final class UnknownProperties implements BeanFactoryPostProcessor {

    private static final Logger LOG = LoggerFactory.getLogger(UnknownProperties.class);
    private static final Pattern PROFILE_WITHOUT_BRACKETS =
            Pattern.compile("holdfast\\.locks\\.[^\\[]*[^\\[\\w.-][^\\[]*", Pattern.CASE_INSENSITIVE);
    private static final Set<String> OF_OTHER_PROGRAMS_TOO = Set.of(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
            StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        ConfigurableEnvironment environment =
                beans.getBean(ConfigurableApplicationContext.ENVIRONMENT_BEAN_NAME, ConfigurableEnvironment.class);
        for (ConfigurationProperty unknown : in(environment)) {
            LOG.warn("{} does not exist and is ignored{}", unknown.getName(), place(unknown));
        }
        for (String name : profilesWithoutBrackets(environment)) {
            LOG.warn(
                    "{} counts for a lock of another name: without brackets, Spring drops characters such as / and *. Write holdfast.locks.[stock/*], for example",
                    name);
        }
    }

    /** Returns the place of the property, but never its value, which may be a password. */
    private static String place(ConfigurationProperty unknown) {
        return unknown.getOrigin() == null ? "" : ": " + unknown.getOrigin();
    }

    /** Leaves environment variables and system properties out: other programs, and the tests of Holdfast, have such names there. */
    static List<ConfigurationProperty> in(ConfigurableEnvironment environment) {
        Names asked = new Names(new HashSet<>());
        BindHandler complaining = new NoUnboundElementsBindHandler(asked, new UnboundElementsSourceFilter());
        try {
            Binder.get(environment, complaining).bind("holdfast", HoldfastProperties.class);
            return List.of();
        } catch (BindException refused) {
            // Another possible cause is an invalid value. It stops the application when Spring binds the properties for
            // use.
            return refused.getCause() instanceof UnboundConfigurationPropertiesException unbound
                    ? unbound.getUnboundProperties().stream()
                            .filter(it -> !asked.names().contains(it.getName()))
                            .toList()
                    : List.of();
        }
    }

    /** Returns the names as they are written. */
    static List<String> profilesWithoutBrackets(ConfigurableEnvironment environment) {
        return environment.getPropertySources().stream()
                .filter(source -> !OF_OTHER_PROGRAMS_TOO.contains(source.getName()))
                .flatMap(source -> names(source).stream())
                .filter(name -> PROFILE_WITHOUT_BRACKETS.matcher(name).matches())
                .distinct()
                .toList();
    }

    private static List<String> names(PropertySource<?> source) {
        return source instanceof EnumerablePropertySource<?> known
                ? Arrays.asList(known.getPropertyNames())
                : List.of();
    }

    /** Collects the properties that exist. A property with an empty value, such as a duration from an empty variable, is not bound. */
    private record Names(Set<ConfigurationPropertyName> names) implements BindHandler {

        @Override
        public <T> Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target, BindContext context) {
            names.add(name);
            return target;
        }
    }
}
