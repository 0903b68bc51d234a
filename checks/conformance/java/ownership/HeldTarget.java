package org.apache.pulsar.metadata.coordination.impl;

import java.util.concurrent.Callable;
import org.apache.pulsar.metadata.api.MetadataStore;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.MetadataStoreException;
import org.apache.pulsar.metadata.api.MetadataStoreProvider;
import org.apache.pulsar.metadata.impl.MetadataStoreFactoryImpl;

/** Where MetadataStoreFactoryImpl finds the store that metadata are migrated to: a store that is held, of the broker that asks. */
public final class HeldTarget implements MetadataStoreProvider {
    static final String URL = "held:target";
    private static Callable<HeldStore> made;

    static {
        System.setProperty(MetadataStoreFactoryImpl.METADATASTORE_PROVIDERS_PROPERTY, HeldTarget.class.getName());
    }

    /** From now on that is the store which whoever asks has. */
    static void is(Callable<HeldStore> store) {
        made = store;
    }

    @Override
    public String urlScheme() {
        return "held";
    }

    @Override
    public MetadataStore create(String url, MetadataStoreConfig config, boolean watches) throws MetadataStoreException {
        try {
            return made.call();
        } catch (Exception e) {
            throw new MetadataStoreException(e);
        }
    }
}
