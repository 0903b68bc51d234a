package org.apache.pulsar.broker.service.persistent;

import java.util.concurrent.ScheduledExecutorService;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.metadata.coordination.impl.Bare;

/** What a topic and its deduplication ask a broker for; made without the constructor of PulsarService, which would start one. */
final class HeldService extends PulsarService {
    private ServiceConfiguration configuration;
    private ScheduledExecutorService executor;

    private HeldService() {
        super(null);
    }

    static HeldService of(ScheduledExecutorService executor) {
        HeldService service = Bare.of(HeldService.class);
        service.configuration = new ServiceConfiguration();
        service.executor = executor;
        return service;
    }

    @Override
    public ServiceConfiguration getConfiguration() {
        return configuration;
    }

    @Override
    public ServiceConfiguration getConfig() {
        return configuration;
    }

    @Override
    public ScheduledExecutorService getExecutor() {
        return executor;
    }
}
