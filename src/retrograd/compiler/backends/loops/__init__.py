"""Machine code from the scalar graph, with loops in loops: for programs that the virtual machine cannot pack.

A recurrence (a filter, an integrator, a simulation) does the same every so many nodes, in the order of creation; a tree
or a triangular solve does so within each step, a different number of times. What repeats itself becomes one loop
forward and one backward (loop rerolling); the rest becomes straight-line code. In the order in which data passes:

``graphs``     the program's graph in arrays: operators of at most three operands (``reading``), chains of sums in one
               form (``chains``), what an Index selects (``lookups``), items that data choose (``takes``), and lists
               that are written to there (``accesses``), which are kept in memory (``arrays``)
``shapes``     where it repeats itself: with one period, as loops over time do (``periods``), or in repetitions of
               repetitions (``nests``); which shape is taken (``sections``), and its bodies (``structure``)
``layouts``    what operands are (``layout``, ``operands``)
``passes``     a small SSA form (``code``, ``formulas``), the two passes in it (``forward``, ``backward``), and where in
               memory numbers are kept (``storage``)
``llvm``       that form as LLVM IR (``llvm_text``): loops whose iterations run side by side (``lanes``), and long
               functions in parts
``pipeline``, ``install``   a program from its graph to installed machine code
"""
