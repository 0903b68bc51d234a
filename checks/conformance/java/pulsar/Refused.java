package org.apache.pulsar.metadata.coordination.impl;

/** The code cannot take a step; the message says why. */
final class Refused extends Exception {
    Refused(String why) {
        super(why);
    }
}
