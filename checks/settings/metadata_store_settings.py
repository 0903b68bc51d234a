"""Which metadata store a cluster's configuration names."""

from __future__ import annotations

from fencepost.checks.settings.broker_conf import BrokerConf, Taken
from fencepost.model.pulsar.stores import STORES

URL, FORMER_URL = "metadataStoreUrl", "zookeeperServers"
ZOOKEEPER = "zk"


def metadata_store(conf: BrokerConf) -> Taken[str]:
    """The scheme of the metadata store's URL; it is ZooKeeper where none is written, or none that Pulsar ships.

    As ServiceConfiguration.getMetadataStoreUrl and MetadataStoreFactoryImpl.findProvider have it: the former key counts only if
    the present one is not set, and is of ZooKeeper whatever it says. The URL itself is not kept, which may tell where a cluster
    is.
    """
    url, former = conf.address(URL), conf.address(FORMER_URL)
    if url is None:
        return Taken(FORMER_URL, ZOOKEEPER, former.place) if former is not None else Taken(URL, ZOOKEEPER)
    scheme = next((scheme for scheme in STORES if url.value.startswith(f"{scheme}:")), None)
    if scheme is None:
        head, colon, _ = url.value.partition("://")
        if colon and head.isidentifier():
            conf.notes.append(f"{url.place}: {URL}: {head}:// is not a store that Pulsar ships; ZooKeeper is assumed")
    return Taken(URL, scheme or ZOOKEEPER, url.place)
