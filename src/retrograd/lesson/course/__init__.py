"""The course: ten chapters in Markdown, computed by the engine, shown as one page or as notebooks.

``source`` reads a chapter, ``figures`` and ``programs`` compute what it shows, ``questions`` what it asks, ``build``
puts all of it together, and ``page`` and ``notebook`` write it.
"""
