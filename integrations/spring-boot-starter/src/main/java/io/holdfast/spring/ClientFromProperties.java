package io.holdfast.spring;

import io.holdfast.LocalHandOver;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.OwnerLabel;
import io.holdfast.spring.HoldfastProperties.Backend;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes a client from properties. */
final class ClientFromProperties {

    private static final Logger LOG = LoggerFactory.getLogger(ClientFromProperties.class);

    private ClientFromProperties() {}

    static LockClient make(
            HoldfastProperties properties,
            @Nullable String applicationName,
            LockBackend backend,
            Delivery delivery,
            List<LockListener> listeners,
            List<LockClientCustomizer> customizers) {
        return InvalidLockPropertiesException.orRefused(() -> {
            LockClient.Builder builder = LockClient.builder(properties.localHandOver() ? handingOver(backend) : backend)
                    .options(properties.options())
                    .closeBackend(false); // the back end is a bean of its own, which Spring closes after the client
            if (properties.operationTimeout() != null) {
                builder = builder.operationTimeout(properties.operationTimeout());
            }
            if (properties.maxWaiters() != null) {
                builder = builder.maxWaiters(properties.maxWaiters());
            }
            if (properties.owner() != null) {
                builder = builder.owner(properties.owner());
            } else if (applicationName != null && !applicationName.isBlank()) {
                builder = builder.owner(OwnerLabel.ofApplication(applicationName));
            }
            if (delivery.scheduler() != null) {
                builder = builder.deliverOn(delivery.scheduler());
            }
            for (LockListener listener : listeners) {
                builder = builder.listener(listener);
            }
            for (LockClientCustomizer customizer : customizers) {
                builder = customizer.customize(builder);
            }
            return builder.build();
        });
    }

    private static LockBackend handingOver(LockBackend backend) {
        if (!backend.features().contains(LockFeature.TOKEN_FLOOR)) {
            LOG.warn("holdfast.local-hand-over changes nothing with the back end {}: turn it off", backend.name());
        }
        return LocalHandOver.over(backend);
    }

    static InvalidLockPropertiesException noModule(Backend chosen) {
        return new InvalidLockPropertiesException(
                "holdfast.backend is %s, but its module is not on the class path.".formatted(chosen.text()),
                "Add %s to the dependencies of the application.".formatted(chosen.artifacts()));
    }
}
