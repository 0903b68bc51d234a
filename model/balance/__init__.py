"""Pulsar's load balancing as pure functions on immutable records, each module to be held against the Java that it mirrors.

Mirrors org.apache.pulsar.broker.loadbalance of apache/pulsar master as of 2026-04 and, where a configuration says so, of
2.10.1. Fields of the records and of the configuration have Pulsar's own names, so that what Pulsar writes is what is read.
Rates are messages per second, throughputs bytes per second, times milliseconds since 1970; usages are fractions.

Pulsar keeps brokers and bundles in hash maps, so that among equals its choice depends on the order of a hash table. Here
it is the order in which the snapshot names them.
"""
