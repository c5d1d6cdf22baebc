"""The documentation site: the pages of ``docs/``, and those that follow from the package, built by Sphinx.

``assemble`` puts the sources together and runs Sphinx. ``chapters``, ``operators``, ``reference`` and ``gallery`` write
the pages that have their one source elsewhere. ``explorer`` and ``mathml`` are Sphinx extensions.
"""
