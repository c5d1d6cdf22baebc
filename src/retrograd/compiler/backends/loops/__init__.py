"""Machine code from the scalar graph, with loops in loops: for programs that the virtual machine cannot pack.

A recurrence (a filter, an integrator, a simulation) does the same every so many nodes, in the order of creation; a tree
or a triangular solve does so within each step, a different number of times. What repeats itself becomes one loop
forward and one backward (loop rerolling); the rest becomes straight-line code. In the order in which data passes:

``graph``, ``reading``, ``chains``   the program's graph in arrays, with operators of at most three operands
``lookups``    what an Index selects, as leaves that the caller fills in
``periods``    where it repeats itself with one period, as loops over time do
``nests``      where it does with repetitions in repetitions
``sections``   which of the two is taken
``structure``  bodies of loops, and positions: a position has a node of the graph in each iteration
``layout``     what the operands of positions are: of this iteration, handed on, of an outer loop, or far
``code``       a small SSA form with value numbering: what both passes are written in
``formulas``   rows of the op table in that form: values, domains, partials
``storage``    which nodes are kept in memory, and where, as functions of the loops' counters
``forward``, ``backward``   the two passes of a graph
``liveness``, ``dependences``   what is computed for nothing; loops whose iterations are independent in memory
``lanes``, ``shifts``   loops whose iterations run side by side, and what goes from one lane to the next
``llvm_text``  the SSA form as LLVM IR: of one call, or of several side by side in vectors
``pipeline``   a program from its graph to installed machine code
"""
