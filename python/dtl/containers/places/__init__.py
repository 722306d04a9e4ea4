"""Where the elements of containers are, and what is done to this rank's part there.

``host.py`` and ``device.py`` have the same verbs; ``place.py`` says which a container has. What a GPU has no kernel for
goes by copies on the host: ``copies.py`` makes them, in one place.
"""
