"""Registry, Python index and apt archive on the loopback, and nothing else: digests, pins and images of every family.
Usage: registry_test.py CUDAMATRIX SOURCE_DIR WORK_DIR PART   (needs root, docker, docker-registry, mmdebstrap and, for the loopback's
own sources, the network; no GPU)

The bases are stand-ins (stand_ins.py): small Debians under the names of images that nobody here can pull, with NVIDIA's real nvcc from
wheels, and with a torch that knows its name only. Everything runs in a network namespace that has no way out; what the loopback serves
comes from outside once. PART stand-ins makes them, the others are tests and start where it ended; these run in the order of their names
and build on each other."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "registry")]
import files
import logins
import many
import packages
import pins
import world

# What is locked first is built and moved on by what follows, and the last test ends the registry.
PARTS = {"pins": [pins.Pins, files.Files], "logins": [logins.Logins], "packages": [packages.Packages],
         "docker": [many.Many], "podman": [many.Many]}


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in PARTS[world.PART])


if __name__ == "__main__":
    try:
        world.start()
        if world.PART == "stand-ins":
            world.make_stand_ins()
        else:
            unittest.main(failfast=True, verbosity=2)
    finally:
        world.end()
