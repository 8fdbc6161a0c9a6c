"""Registry, Python index and apt archive on the loopback, and nothing else: digests, pins and images of every family.
Usage: registry_test.py CUDAMATRIX SOURCE_DIR WORK_DIR   (needs root, docker, docker-registry, mmdebstrap and, for the loopback's own
sources, the network; no GPU)

The bases are stand-ins (stand_ins.py): small Debians under the names of images that nobody here can pull, with NVIDIA's real nvcc from
wheels, and with a torch that knows its name only. Everything runs in a network namespace that has no way out; what the loopback serves
comes from outside once. The tests run in the order of their names and build on each other."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "registry")]
import files
import logins
import packages
import pins
import world


def load_tests(loader, _tests, _pattern):
    """In this order: what is locked first is built and moved on by what follows, and the last test ends the registry."""
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (pins.Pins, logins.Logins, packages.Packages, files.Files))


if __name__ == "__main__":
    try:
        world.start()
        unittest.main(failfast=True, verbosity=2)
    finally:
        world.end()
