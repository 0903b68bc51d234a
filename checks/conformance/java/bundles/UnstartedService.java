package org.apache.pulsar.metadata.coordination.impl;

import java.util.Map;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.metadata.api.coordination.CoordinationService;
import org.apache.pulsar.policies.data.loadbalancer.AdvertisedListener;

/** What a broker that is not started says of itself; it is made without the constructor of PulsarService, which would start one. */
abstract class UnstartedService extends PulsarService {
    private String name;
    private CoordinationService locks;
    private ServiceConfiguration configuration;

    UnstartedService() {
        super(null);
    }

    /** The broker has that name, these locks, and the settings of a broker that nobody has configured. */
    final void name(String name, CoordinationService locks) {
        this.name = name;
        this.locks = locks;
        configuration = new ServiceConfiguration();
    }

    @Override
    public String getBrokerServiceUrl() {
        return "pulsar://" + name;
    }

    @Override
    public String getBrokerServiceUrlTls() {
        return null;
    }

    @Override
    public String getWebServiceAddress() {
        return "http://" + name;
    }

    @Override
    public String getWebServiceAddressTls() {
        return null;
    }

    @Override
    public String getAdvertisedAddress() {
        return name;
    }

    @Override
    public Map<String, AdvertisedListener> getAdvertisedListeners() {
        return Map.of();
    }

    @Override
    public String getBrokerId() {
        return name;
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
    public CoordinationService getCoordinationService() {
        return locks;
    }
}
