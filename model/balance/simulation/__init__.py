"""A cluster over hours: topics with rates, brokers that report, crash and return, and a leader that places, sheds and splits.

The leader decides by the functions of ``model/balance``: a run is what a policy does to a world that it changes. The world
goes on in minutes, the interval at which a broker measures its host and its bundles. What is random in the world is a
function of the seed alone; what a policy draws is a function of the seed, the minute and the bundle. So two policies meet the
same world, and draw the same where they decide the same.
"""
