package fencepost.policy;

import java.util.HashMap;
import java.util.Map;
import org.apache.pulsar.broker.*; // where 2.10 has what later is in the other package
import org.apache.pulsar.broker.loadbalance.LoadData;
import org.apache.pulsar.broker.loadbalance.impl.DeviationShedder;
import org.apache.pulsar.policies.data.loadbalancer.*;
import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.Multimap;

/**
 * DeviationShedder is abstract, and Pulsar ships no subclass. Loads are throughputs, and one standard deviation is too much. What it
 * answers has bundles and brokers the wrong way round, and is turned round.
 */
public final class ByThroughput extends DeviationShedder {
    private Map<String, BundleData> bundles = new HashMap<>();

    @Override
    protected double bundleValue(String bundle, BrokerData broker, ServiceConfiguration conf) {
        BundleData data = bundles.get(bundle);
        if (data == null) {
            return 0;
        }
        TimeAverageMessageData average = data.getShortTermData();
        return average.getMsgThroughputIn() + average.getMsgThroughputOut();
    }

    @Override
    protected double brokerValue(BrokerData broker, ServiceConfiguration conf) {
        return broker.getLocalData().getMsgThroughputIn() + broker.getLocalData().getMsgThroughputOut();
    }

    @Override
    protected double getDeviationThreshold(ServiceConfiguration conf) {
        return 1;
    }

    @Override
    public Multimap<String, String> findBundlesForUnloading(LoadData load, ServiceConfiguration conf) {
        bundles = load.getBundleData();
        Multimap<String, String> turned = ArrayListMultimap.create();
        super.findBundlesForUnloading(load, conf).forEach((bundle, broker) -> turned.put(broker, bundle));
        return turned;
    }
}
